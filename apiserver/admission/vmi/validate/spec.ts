import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { required, type FieldPath } from '../../causes.js';
import { requested } from './resources.js';
import { instanceRules, specRules } from './rules.js';
import type { SpecRule } from './rule.js';

type Input = Parameters<SpecRule>[0];

const ofSpecs: readonly SpecRule[] = Object.values(specRules).flat();
const ofInstances: readonly SpecRule[] = Object.values(instanceRules).flat();

function run(rules: readonly SpecRule[], input: Input): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const rule of rules) causes.push(...rule(input));
  return causes;
}

/** Every fault of a spec wherever it stands; `at` is its place. */
export function specCauses(
  spec: VirtualMachineInstanceSpec,
  at: FieldPath,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  return run(ofSpecs, { spec, at, configuration });
}

/** What only a VMI that is to run must satisfy besides. */
export function instanceCauses(
  spec: VirtualMachineInstanceSpec,
  at: FieldPath,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  return [...run(ofInstances, { spec, at, configuration }), ...memoryIsKnown(spec, at)];
}

function memoryIsKnown(spec: VirtualMachineInstanceSpec, at: FieldPath): StatusCause[] {
  const { memory, resources } = spec.domain;
  if (requested(resources, 'memory') !== 0n || memory?.guest !== undefined || memory?.hugepages !== undefined)
    return [];
  return [
    required(
      at.child('domain', 'memory', 'guest'),
      'must be set (or memory.hugepages, or resources.requests.memory)',
    ),
  ];
}
