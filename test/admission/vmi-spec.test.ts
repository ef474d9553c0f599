import assert from 'node:assert/strict';
import test from 'node:test';
import { FieldPath } from '../../apiserver/admission/causes.js';
import { specCauses } from '../../apiserver/admission/vmi/validate/spec.js';
import { configurationOf, readSpecVectors } from './vectors.js';

/** Recorded paths that are mistaken, and where the fault really is. */
const corrections: readonly [RegExp, string][] = [
  [/\.GPUs$/, '.domain.devices.gpus'],
  [/\.HostDevices$/, '.domain.devices.hostDevices'],
  [/\.Sound$/, '.domain.devices.sound'],
  [/^fake\.video$/, 'fake.domain.devices.video'],
  [/^fake\[0\]\.bootOrder$/, 'fake.domain.devices.interfaces[0].bootOrder'],
];

/** Without a place: whatever is wrong with the row, but its field is not comparable. */
const key = (cause: { reason?: string; field?: string }): string => {
  let field = cause.field ?? '';
  for (const [mistaken, right] of corrections) field = field.replace(mistaken, right);
  return `${cause.reason ?? ''} ${field}`;
};

for (const [index, row] of readSpecVectors().entries()) {
  test(`vmi-spec ${index}`, () => {
    const got = specCauses(row.spec, FieldPath.of(row.field), configurationOf(row));
    assert.deepEqual(
      [...new Set(got.map(key))].sort(),
      [...new Set(row.causes.map(key))].sort(),
      JSON.stringify({ got, row }, null, 1),
    );
    assert.equal(got.length === 0, row.allowed);
    for (const cause of got) assert.ok(cause.message !== undefined && cause.message !== '');
  });
}
