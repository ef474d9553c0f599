/** Validation of preferences of both scopes. */
import type { VirtualMachinePreferenceSpec } from '../../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import {
  instancetypeGroup,
  referredKind,
  type Referent,
  type Scope,
} from '../../../openapi/instancetype/kinds.js';
import {
  cpuTopologies,
  deprecatedCpuTopologies,
  preferredTopology,
  spreadAcross,
  spreadOf,
} from '../../../openapi/instancetype/topology.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid, unknownWord } from '../causes.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission, type RuleContext } from '../kind-rules.js';

/** Cores with more threads than that can not be told to a guest. */
const threadsPerCore = 2;

export function preferenceValidation(scope: Scope): AdmissionPlugin {
  const admit = ({ spec }: Referent<'preference'>, context: RuleContext): StatusCause[] => {
    const causes = preferenceCauses(spec, FieldPath.of('spec'));
    const word = spec.cpu?.preferredCPUTopology ?? '';
    if (causes.length === 0 && Object.hasOwn(deprecatedCpuTopologies, word)) {
      const instead = deprecatedCpuTopologies[word] ?? '';
      context.warn(`spec.cpu.preferredCPUTopology: "${word}" is deprecated: use "${instead}"`);
    }
    return causes;
  };
  const { kind, resource } = referredKind('preference', scope);
  return kindAdmission<Referent<'preference'>>({
    name: `${kind}Validation`,
    group: instancetypeGroup,
    resource,
    create: admit,
    update: (object, _old, context) => admit(object, context),
  });
}

export function preferenceCauses(spec: VirtualMachinePreferenceSpec, at: FieldPath): StatusCause[] {
  const topology = preferredTopology(spec);
  if (topology === undefined) {
    const why = unknownWord(spec.cpu?.preferredCPUTopology ?? '', cpuTopologies);
    return [invalid(at.child('cpu', 'preferredCPUTopology'), why)];
  }
  return topology === 'spread' ? spreadCauses(spec, at.child('cpu', 'spreadOptions')) : [];
}

function spreadCauses(spec: VirtualMachinePreferenceSpec, at: FieldPath): StatusCause[] {
  const { across, ratio } = spreadOf(spec);
  if (!spreadAcross.some((each) => each === across))
    return [invalid(at.child('across'), unknownWord(across, spreadAcross))];
  if (across !== 'CoresThreads' || ratio === threadsPerCore) return [];
  return [
    invalid(at.child('ratio'), `${ratio} threads a core are not possible: it must be ${threadsPerCore}`),
  ];
}
