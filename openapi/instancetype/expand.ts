/** From a VM's template, its instancetype and its preference to what its instance shall be. Pure. */
import type {
  NetworkConfiguration,
  VirtualMachineInstanceSpec,
  VirtualMachineInstanceTemplateSpec,
} from '../generated/types/kubevirt_v1.js';
import type { ObjectMeta } from '../meta.js';
import { addInput, addMissingDisks, addPodNetwork } from '../implied-devices.js';
import type { Draft } from './draft.js';
import { applyInstancetype, conflictsWith, type Conflict } from './instancetype.js';
import type { SpecOf, Subject } from './kinds.js';
import { applyAutoattach } from './preference/devices.js';
import { applyPreference } from './preference/preference.js';
import { topologyOf } from './topology.js';

export type Choice = { readonly [S in Subject]: SpecOf[S] | undefined };

export type Expansion =
  | { readonly kind: 'expanded'; readonly template: ExpandedTemplate }
  | { readonly kind: 'conflicts'; readonly conflicts: readonly Conflict[] };

export interface ExpandedTemplate extends VirtualMachineInstanceTemplateSpec {
  spec: VirtualMachineInstanceSpec;
}

/** @param network the cluster's, which says how guests that name no network are attached to the pod's */
export function expandTemplate(
  template: VirtualMachineInstanceTemplateSpec,
  { instancetype, preference }: Choice,
  network: NetworkConfiguration | undefined,
): Expansion {
  const draft: Draft = {
    spec: structuredClone(template.spec ?? { domain: { devices: {} } }),
    annotations: { ...template.metadata?.annotations },
  };
  const conflicts = instancetype === undefined ? [] : conflictsWith(instancetype, draft);
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts };
  const { spec, annotations } = draft;
  if (preference !== undefined) applyAutoattach(preference, spec.domain.devices);
  // Devices that come by themselves are there before the preference says which model they are.
  addInput(spec.domain.devices);
  addMissingDisks(spec);
  addPodNetwork(spec, network);
  if (instancetype !== undefined) {
    applyInstancetype(instancetype, draft);
    spec.domain.cpu = { ...spec.domain.cpu, ...topologyOf(instancetype.cpu.guest, preference) };
  }
  if (preference !== undefined) applyPreference(preference, draft);
  return { kind: 'expanded', template: { ...template, ...annotated(template, annotations), spec } };
}

function annotated(
  { metadata }: VirtualMachineInstanceTemplateSpec,
  annotations: Record<string, string>,
): Pick<VirtualMachineInstanceTemplateSpec, 'metadata'> {
  if (Object.keys(annotations).length === 0) return {};
  // Templates have no identity: their metadata may lack what that of objects has.
  return { metadata: { ...metadata, annotations } as ObjectMeta };
}
