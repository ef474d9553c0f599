/** Labels and annotations that a VMI gets while it lives, on its pod: there Services, policies and dashboards look for them. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { labels } from '../constants.js';
import { inheritedMetadata } from '../launcher-pod/metadata.js';
import { isPodFinal } from './pod-state.js';

type Values = Readonly<Record<string, string>>;

/** Taken away from the pod too; whose another one is that the VMI does not have, nobody knows. */
const temporary: readonly string[] = [labels.outdatedLauncherImage];

/** A merge patch of the pod's metadata; undefined if it has all that its VMI has. */
export function metadataPatch(vmi: VirtualMachineInstance, pod: Pod): object | undefined {
  if (isPodFinal(pod)) return undefined;
  if (vmi.metadata.deletionTimestamp !== undefined || pod.metadata.deletionTimestamp !== undefined)
    return undefined;
  const wanted = inheritedMetadata(vmi);
  const patch = {
    ...changes('labels', wanted.labels, pod.metadata.labels),
    ...changes('annotations', wanted.annotations, pod.metadata.annotations),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function changes(
  field: 'labels' | 'annotations',
  wanted: Values,
  present: Values = {},
): Partial<Record<typeof field, Record<string, string | null>>> {
  const changed = Object.entries(wanted).filter(([key, value]) => present[key] !== value);
  const gone = temporary.filter((key) => present[key] !== undefined && wanted[key] === undefined);
  if (changed.length + gone.length === 0) return {};
  return {
    [field]: { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((key) => [key, null])) },
  };
}
