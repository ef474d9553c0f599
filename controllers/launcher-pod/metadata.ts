/** Names, labels and annotations of a launcher pod: KubeVirt's, so that dashboards and policies find it. */
import { createHash } from 'node:crypto';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { ObjectMeta } from '../../openapi/meta.js';
import { annotations, labels, launcherApp } from '../constants.js';
import { computeContainer } from '../../openapi/launcher/pod.js';
import { networkAnnotations } from '../../openapi/launcher/pod-interfaces.js';
import { controllerReference } from '../runtime/writes.js';
import { launcherOverhead } from './resources.js';
import type { LauncherPodSettings } from './settings.js';

const longestName = 253;
const longestLabel = 63;

/**
 * One name for each VMI (by UID), so that a controller that was killed between creating the pod and noting it can not
 * create a second one.
 */
export function launcherPodName({ metadata }: VirtualMachineInstance): string {
  const suffix = createHash('sha256').update(metadata.uid).digest('hex').slice(0, 8);
  const prefix = `virt-launcher-${metadata.name}`.slice(0, longestName - suffix.length - 1);
  return `${prefix.replace(/[^a-z0-9]+$/, '')}-${suffix}`;
}

export function launcherMetadata(
  vmi: VirtualMachineInstance,
  { configuration }: LauncherPodSettings,
): Partial<ObjectMeta> & { name: string } {
  const { namespace, name, uid } = vmi.metadata;
  return {
    name: launcherPodName(vmi),
    ...(namespace === undefined ? {} : { namespace }),
    labels: {
      ...inherited(vmi.metadata.labels, (key) => key !== labels.nodeName),
      [labels.app]: launcherApp,
      [labels.createdBy]: uid,
      [labels.virtualMachineName]: labelValue(name),
      [labels.virtualMachineInstanceId]: labelValue(name),
    },
    annotations: {
      ...inherited(vmi.metadata.annotations, isForPod),
      ...networkAnnotations(vmi),
      [annotations.domain]: name,
      [annotations.memoryOverhead]: String(launcherOverhead(vmi, configuration)),
      'kubectl.kubernetes.io/default-container': computeContainer,
      // An eviction is for the VMI controller to decide, by the VMI's strategy.
      'descheduler.alpha.kubernetes.io/request-evict-only': '',
    },
    ownerReferences: [controllerReference(vmi)],
  };
}

function inherited(
  values: Readonly<Record<string, string>> | undefined,
  keep: (key: string) => boolean,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([key]) => keep(key)));
}

/** Annotations that speak of the VMI object itself mean nothing on its pod. */
const own = new Set<string>([
  'kubectl.kubernetes.io/last-applied-configuration',
  'kubevirt.io/latest-observed-api-version',
  'kubevirt.io/storage-observed-api-version',
  annotations.virtualMachineGeneration,
  annotations.templateDigest,
]);

const isForPod = (key: string): boolean => !own.has(key);

/** Names may be longer than label values. */
const labelValue = (name: string): string => name.slice(0, longestLabel).replace(/[^A-Za-z0-9]+$/, '');
