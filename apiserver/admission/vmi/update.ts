/** Validation of what changes on a VirtualMachineInstance, and by whom. */
import type { VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, notSupported } from '../causes.js';
import type { IsComponent, NodeAgentOf } from '../components.js';
import type { AdmissionPlugin } from '../interface.js';
import { reservedLabels } from './reserved-labels.js';
import { changedFields } from './update/changed-fields.js';
import { nodeRestrictionCauses } from './update/node-restriction.js';
import { updateRules } from './update/rules.js';

export interface UpdateDependencies {
  readonly isComponent: IsComponent;
  readonly nodeAgentOf: NodeAgentOf;
}

export function virtualMachineInstanceUpdateValidation({
  isComponent,
  nodeAgentOf,
}: UpdateDependencies): AdmissionPlugin {
  return {
    name: 'VirtualMachineInstanceUpdateValidation',
    handles: (request) =>
      request.group === 'kubevirt.io' &&
      request.resource === 'virtualmachineinstances' &&
      request.operation === 'UPDATE' &&
      (request.subresource === undefined || request.subresource === 'status'),
    validate({ object, oldObject, subresource, user }, { configuration }) {
      // The resource and the operation say so: see `handles`.
      const [vmi, old] = [object as VirtualMachineInstance, oldObject as VirtualMachineInstance];
      const agent = nodeAgentOf(user);
      const restricted = agent === undefined ? [] : nodeRestrictionCauses(agent, vmi, old, configuration);
      if (restricted.length > 0 || subresource === 'status') return restricted;
      const at = FieldPath.of('spec');
      if (!isComponent(user)) return [...specCauses(vmi, old, at), ...labelCauses(vmi, old)];
      if (sameJson(vmi.spec, old.spec)) return [];
      return Object.values(updateRules)
        .flat()
        .flatMap((rule) => rule({ vmi, old, at, configuration }));
    },
  };
}

function specCauses(vmi: VirtualMachineInstance, old: VirtualMachineInstance, at: FieldPath): StatusCause[] {
  return changedFields(vmi.spec, old.spec, at).map((field) =>
    notSupported(
      field,
      'the spec of a VMI can not be changed: change its VirtualMachine, or use a subresource such as addvolume',
    ),
  );
}

function labelCauses({ metadata }: VirtualMachineInstance, old: VirtualMachineInstance): StatusCause[] {
  return reservedLabels
    .filter((label) => metadata.labels?.[label] !== old.metadata.labels?.[label])
    .map((label) =>
      notSupported(FieldPath.of('metadata').child('labels').key(label), `${label} is reserved`),
    );
}
