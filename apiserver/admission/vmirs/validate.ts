/** Validation of a VirtualMachineInstanceReplicaSet: its template is that of a good VMI, and its selector finds what it makes. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceReplicaSet,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath } from '../causes.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';
import { selectorCauses } from '../selector.js';
import { graceAnnotations } from '../vmi/validate/grace.js';
import { discontinuedBindings } from '../vmi/validate/network.js';
import { specCauses } from '../vmi/validate/spec.js';

export function replicaSetValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineInstanceReplicaSet>({
    name: 'ReplicaSetValidation',
    group: 'kubevirt.io',
    resource: 'virtualmachineinstancereplicasets',
    create: (replicaSet, { configuration }) => causesOf(replicaSet, undefined, configuration),
    update: (replicaSet, old, { configuration }) =>
      // What was admitted under another configuration may still be labelled and scaled.
      sameJson(replicaSet.spec.template, old.spec.template) &&
      sameJson(replicaSet.spec.selector, old.spec.selector)
        ? []
        : causesOf(replicaSet, old, configuration),
  });
}

function causesOf(
  { spec: { template, selector } }: VirtualMachineInstanceReplicaSet,
  old: VirtualMachineInstanceReplicaSet | undefined,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  const at = FieldPath.of('spec');
  const inTemplate = at.child('template');
  const { metadata = {}, spec = { domain: { devices: {} } } } = template;
  const input = { spec, at: inTemplate.child('spec'), configuration };
  return [
    ...(old === undefined ? discontinuedBindings(input) : []),
    ...graceAnnotations(metadata, inTemplate.child('metadata'), input),
    ...specCauses(spec, input.at, configuration),
    ...selectorCauses(selector, template.metadata?.labels, at.child('selector')),
  ];
}
