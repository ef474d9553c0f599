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
  const inherited = inheritedMetadata(vmi);
  return {
    name: launcherPodName(vmi),
    ...(namespace === undefined ? {} : { namespace }),
    labels: {
      ...inherited.labels,
      [labels.app]: launcherApp,
      [labels.createdBy]: uid,
      [labels.virtualMachineName]: labelValue(name),
      [labels.virtualMachineInstanceId]: labelValue(name),
    },
    annotations: {
      ...inherited.annotations,
      ...networkAnnotations(vmi),
      [annotations.domain]: name,
      [annotations.memoryOverhead]: String(launcherOverhead(vmi, configuration)),
      [defaultContainer]: computeContainer,
      // An eviction is for the VMI controller to decide, by the VMI's strategy.
      [requestEvictOnly]: '',
    },
    ownerReferences: [controllerReference(vmi)],
  };
}

/** What a pod has of its VMI's labels and annotations. */
export function inheritedMetadata(vmi: VirtualMachineInstance): {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
} {
  const networks = networkAnnotations(vmi);
  return {
    labels: entriesOf(vmi.metadata.labels, (key) => !ownLabels.has(key)),
    annotations: entriesOf(
      vmi.metadata.annotations,
      (key) => !ownAnnotations.has(key) && !Object.hasOwn(networks, key),
    ),
  };
}

function entriesOf(
  values: Readonly<Record<string, string>> | undefined,
  keep: (key: string) => boolean,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([key]) => keep(key)));
}

/** Of the VMI alone, or of the pod alone. */
const ownLabels = new Set<string>([
  labels.nodeName,
  labels.app,
  labels.createdBy,
  labels.virtualMachineName,
  labels.virtualMachineInstanceId,
]);

const defaultContainer = 'kubectl.kubernetes.io/default-container';
const requestEvictOnly = 'descheduler.alpha.kubernetes.io/request-evict-only';
const ownAnnotations = new Set<string>([
  'kubectl.kubernetes.io/last-applied-configuration',
  'kubevirt.io/latest-observed-api-version',
  'kubevirt.io/storage-observed-api-version',
  annotations.virtualMachineGeneration,
  annotations.templateDigest,
  annotations.domain,
  annotations.memoryOverhead,
  defaultContainer,
  requestEvictOnly,
]);

/** Names may be longer than label values. */
const labelValue = (name: string): string => name.slice(0, longestLabel).replace(/[^A-Za-z0-9]+$/, '');
