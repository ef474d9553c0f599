/** Interfaces of a launcher pod: their names and annotations, which its maker, network plugins and the node agent agree on. */
import { createHash } from 'node:crypto';
import type { Network, VirtualMachineInstance } from '../generated/types/kubevirt_v1.js';
import { interfacesOf } from './interfaces.js';

export const primaryPodInterface = 'eth0';

/** Multus reads from a pod which networks it wants … */
export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';
/** … and which of them takes the place of the cluster's; … */
export const defaultNetworkAnnotation = 'v1.multus-cni.io/default-network';
/** … and writes down what the pod has got. */
export const networkStatusAnnotation = 'k8s.v1.cni.cncf.io/network-status';

/** With a prefix within the 15 characters that the name of an interface may have. */
const hashLength = 11;

export function networkHash({ name }: Network): string {
  return createHash('sha256').update(name).digest('hex').slice(0, hashLength);
}

export function isPrimary(network: Network | undefined): boolean {
  return network?.multus === undefined || network.multus.default === true;
}

/** What the launcher pod asks of the network plugin, and has where the plugin does not say otherwise. */
export function wantedPodInterface(network: Network | undefined): string {
  return network === undefined || isPrimary(network) ? primaryPodInterface : `pod${networkHash(network)}`;
}

export interface NetworkRequest {
  readonly name: string;
  readonly namespace: string;
  readonly interface: string;
  readonly mac?: string;
}

/** The annotations by which a launcher pod asks for the secondary networks of its VMI. */
export function networkAnnotations(vmi: VirtualMachineInstance): Record<string, string> {
  const namespace = vmi.metadata.namespace ?? '';
  const networks = vmi.spec.networks ?? [];
  const requests = interfacesOf(vmi).flatMap(({ name, macAddress }): NetworkRequest[] => {
    const network = networks.find((each) => each.name === name);
    if (network?.multus === undefined || isPrimary(network)) return [];
    const mac = macAddress === undefined ? {} : { mac: macAddress };
    return [
      { ...split(network.multus.networkName, namespace), interface: wantedPodInterface(network), ...mac },
    ];
  });
  const main = networks.find(({ multus }) => multus?.default === true)?.multus?.networkName;
  return {
    ...(requests.length === 0 ? {} : { [networksAnnotation]: JSON.stringify(requests) }),
    ...(main === undefined ? {} : { [defaultNetworkAnnotation]: main }),
  };
}

/** A network attachment definition is named with its namespace, or is in the pod's own. */
function split(networkName: string, own: string): { readonly name: string; readonly namespace: string } {
  const slash = networkName.indexOf('/');
  if (slash < 0) return { name: networkName, namespace: own };
  return { namespace: networkName.slice(0, slash), name: networkName.slice(slash + 1) };
}
