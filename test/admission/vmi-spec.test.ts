import test from 'node:test';
import { FieldPath } from '../../apiserver/admission/causes.js';
import { specCauses } from '../../apiserver/admission/vmi/validate/spec.js';
import { assertVerdict, configurationOf, readSpecVectors } from './vectors.js';

/** Recorded paths that are mistaken, and where the fault really is. */
const corrections: readonly [RegExp, string][] = [
  [/\.GPUs$/, '.domain.devices.gpus'],
  [/\.HostDevices$/, '.domain.devices.hostDevices'],
  [/\.Sound$/, '.domain.devices.sound'],
  [/^fake\.video$/, 'fake.domain.devices.video'],
  [/^fake\[0\]\.bootOrder$/, 'fake.domain.devices.interfaces[0].bootOrder'],
];

function correct(field: string): string {
  return corrections.reduce((path, [mistaken, right]) => path.replace(mistaken, right), field);
}

for (const [index, row] of readSpecVectors().entries()) {
  test(`vmi-spec ${index}`, () => {
    assertVerdict(row, specCauses(row.spec, FieldPath.of(row.field), configurationOf(row)), correct);
  });
}
