/** The cluster's configuration, as controllers need it: the KubeVirt object's over the defaults. */
import type { KubeVirt, KubeVirtConfiguration } from '../openapi/generated/types/kubevirt_v1.js';
import { kubeVirtFrom } from './runtime/configuration.js';
import type { Informer } from './runtime/informer.js';

/** Those of KubeVirt that controllers read. */
export const defaultConfiguration = {
  cpuRequest: '100m',
  developerConfiguration: { cpuAllocationRatio: 10, memoryOvercommit: 100, nodeSelectors: {} },
  imagePullPolicy: 'IfNotPresent',
  network: { defaultNetworkInterface: 'bridge', permitBridgeInterfaceOnPodNetwork: true },
} as const satisfies KubeVirtConfiguration;

export function configurationFrom(informer: Informer<KubeVirt>): KubeVirtConfiguration {
  const configured = kubeVirtFrom(informer)?.spec.configuration ?? {};
  return {
    ...defaultConfiguration,
    ...configured,
    developerConfiguration: {
      ...defaultConfiguration.developerConfiguration,
      ...configured.developerConfiguration,
    },
    network: { ...defaultConfiguration.network, ...configured.network },
  };
}
