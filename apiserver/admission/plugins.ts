/** The admission of every kind, in the order in which it runs: a kind's defaults before its rules. */
import type { AdmissionPlugin } from './interface.js';
import { virtualMachineDefaults } from './vm/mutate.js';
import { virtualMachineValidation } from './vm/validate.js';
import { virtualMachineInstanceDefaults } from './vmi/mutate.js';
import { virtualMachineInstanceValidation, type IsComponent } from './vmi/validate.js';

export interface AdmissionDependencies {
  readonly isComponent: IsComponent;
  readonly uuid: () => string;
  /** RFC 3339. */
  readonly now: () => string;
}

export function admissionPlugins({
  isComponent,
  uuid,
  now,
}: AdmissionDependencies): readonly AdmissionPlugin[] {
  return [
    virtualMachineDefaults({ uuid }),
    virtualMachineValidation(),
    virtualMachineInstanceDefaults({ uuid, now }),
    virtualMachineInstanceValidation(isComponent),
  ];
}
