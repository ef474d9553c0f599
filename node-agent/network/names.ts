/** Names of devices in a pod's network namespace: those that KubeVirt gives, so that network plugins' rules find them. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Network } from '../../openapi/generated/types/kubevirt_v1.js';
import {
  isPrimary,
  networkHash,
  networkStatusAnnotation,
  primaryPodInterface,
  wantedPodInterface,
} from '../../openapi/launcher/pod-interfaces.js';

export function tapName(network: Network | undefined): string {
  return network === undefined || isPrimary(network) ? 'tap0' : `tap${networkHash(network)}`;
}

export function bridgeName(network: Network | undefined): string {
  return network === undefined || isPrimary(network)
    ? `k6t-${primaryPodInterface}`
    : `k6t-${networkHash(network)}`;
}

interface StatusEntry {
  readonly name: string;
  readonly interface: string;
}

/** The entries that the network plugin has written about the pod; none where what is written is no such list. */
function networkStatus(pod: Pod): readonly StatusEntry[] {
  const text = pod.metadata.annotations?.[networkStatusAnnotation];
  if (text === undefined) return [];
  const value: unknown = parsed(text);
  return Array.isArray(value) ? value.filter(isStatusEntry) : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isStatusEntry(value: unknown): value is StatusEntry {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'interface' in value &&
    typeof value.interface === 'string'
  );
}

/**
 * The pod's interface on a network of the VMI: the one that was asked for, or, where the plugin has given another name, the
 * one that its status has for the network in the same place of the spec.
 */
export function podInterface(pod: Pod, network: Network | undefined, all: readonly Network[]): string {
  const wanted = wantedPodInterface(network);
  if (network?.multus === undefined || isPrimary(network)) return wanted;
  const entries = networkStatus(pod);
  if (entries.some((entry) => entry.interface === wanted)) return wanted;
  const full = fullName(pod, network.multus.networkName);
  const same = all.filter(
    (each) => each.multus && !isPrimary(each) && fullName(pod, each.multus.networkName) === full,
  );
  const matching = entries.filter(({ name }) => name === full);
  return matching[same.findIndex(({ name }) => name === network.name)]?.interface ?? wanted;
}

/** A network attachment definition is named with its namespace, or is in the pod's own. */
function fullName(pod: Pod, networkName: string): string {
  return networkName.includes('/') ? networkName : `${pod.metadata.namespace ?? ''}/${networkName}`;
}
