/** The admission of every kind, in the order in which it runs: a kind's defaults before its rules. */
import type { IsComponent, NodeAgentOf } from './components.js';
import { instancetypeValidation } from './instancetype/validate.js';
import type { AdmissionPlugin } from './interface.js';
import { kindAdmissions } from './kinds.js';
import { preferenceValidation } from './preference/validate.js';
import { virtualMachineDefaults } from './vm/mutate.js';
import { virtualMachineValidation } from './vm/validate.js';
import { virtualMachineInstanceDefaults } from './vmi/mutate.js';
import { virtualMachineInstanceUpdateValidation } from './vmi/update.js';
import { virtualMachineInstanceValidation } from './vmi/validate.js';

export interface AdmissionDependencies {
  readonly isComponent: IsComponent;
  readonly nodeAgentOf: NodeAgentOf;
  readonly uuid: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** RFC 3339. */
  readonly now: () => string;
}

export function admissionPlugins({
  isComponent,
  nodeAgentOf,
  uuid,
  randomBytes,
  now,
}: AdmissionDependencies): readonly AdmissionPlugin[] {
  return [
    virtualMachineDefaults({ uuid }),
    virtualMachineValidation(isComponent),
    virtualMachineInstanceDefaults({ uuid, now }),
    virtualMachineInstanceValidation(isComponent),
    virtualMachineInstanceUpdateValidation({ isComponent, nodeAgentOf }),
    instancetypeValidation('Namespaced'),
    instancetypeValidation('Cluster'),
    preferenceValidation('Namespaced'),
    preferenceValidation('Cluster'),
    ...kindAdmissions({ isComponent, randomBytes }),
  ];
}
