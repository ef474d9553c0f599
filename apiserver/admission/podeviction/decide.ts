/** What an eviction means to a pod that belongs to a guest: it is moved away, held, or just evicted. */
import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { AdmissionLookups } from '../interface.js';
import { appLabel, domainAnnotation, hotplugApp, launcherApp } from '../launcherpod/names.js';

export type EvictionDecision =
  /** The pod may be deleted. */
  | { readonly action: 'allow' }
  /** The eviction is answered 429 with the message: whoever asked tries again. */
  | { readonly action: 'refuse'; readonly message: string }
  /** Refused in the same way, after the VMI has been marked (`status.evacuationNodeName`) to leave the node. */
  | {
      readonly action: 'evacuate';
      readonly message: string;
      readonly vmi: VirtualMachineInstance;
      readonly node: string;
    };

const allow: EvictionDecision = { action: 'allow' };
const refuse = (message: string): EvictionDecision => ({ action: 'refuse', message });

/** Changes nothing. Rejects only where a lookup does. */
export async function decideEviction(
  pod: Pod,
  lookups: AdmissionLookups,
  configuration: KubeVirtConfiguration,
): Promise<EvictionDecision> {
  const app = pod.metadata.labels?.[appLabel];
  if (app === hotplugApp) return decideHotplugPod(pod, lookups);
  if (app !== launcherApp || hasEnded(pod)) return allow;
  const name = pod.metadata.annotations?.[domainAnnotation];
  if (name === undefined) return allow;
  const vmi = await vmiOf(pod, name, lookups);
  if (vmi === undefined) return refuse(`the VMI ${JSON.stringify(name)} of the pod can not be found`);
  return decideLauncherPod(pod, vmi, configuration);
}

function decideLauncherPod(
  pod: Pod,
  vmi: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
): EvictionDecision {
  const { namespace = '', name } = vmi.metadata;
  const migratable = isMigratable(vmi);
  switch (vmi.spec.evictionStrategy ?? configuration.evictionStrategy) {
    case 'LiveMigrate':
      if (!migratable) {
        return refuse(
          `the VMI "${namespace}/${name}" must migrate when it is evicted, and is not live-migratable`,
        );
      }
      break;
    case 'LiveMigrateIfPossible':
      if (!migratable) return allow;
      break;
    case 'External':
      break;
    default:
      return allow;
  }
  // The descheduler looks for these words.
  const triggered = `Eviction triggered evacuation of VMI "${namespace}/${name}"`;
  const { evacuationNodeName = '', nodeName = '' } = vmi.status ?? {};
  const node = pod.spec?.nodeName ?? '';
  if (evacuationNodeName !== '') return refuse(`Evacuation in progress: ${triggered}`);
  if (nodeName !== node)
    return refuse('the pod is the target of a migration: it can be evicted once that is over');
  return { action: 'evacuate', message: triggered, vmi, node };
}

/** A pod that holds a disk of a running guest stays as long as the guest's own. */
async function decideHotplugPod(pod: Pod, lookups: AdmissionLookups): Promise<EvictionDecision> {
  const [owner, ...more] = pod.metadata.ownerReferences ?? [];
  if (owner === undefined || more.length > 0) return allow;
  const launcher = await lookups.get<Pod>('', 'pods', pod.metadata.namespace, owner.name);
  if (launcher?.metadata.labels?.[appLabel] !== launcherApp || hasEnded(launcher)) return allow;
  const name = launcher.metadata.annotations?.[domainAnnotation];
  if (name === undefined || (await vmiOf(pod, name, lookups)) === undefined) return allow;
  return refuse(`the pod holds a disk of the VMI "${pod.metadata.namespace ?? ''}/${name}", which runs`);
}

function vmiOf(
  { metadata: { namespace } }: Pod,
  name: string,
  lookups: AdmissionLookups,
): Promise<VirtualMachineInstance | undefined> {
  return lookups.get('kubevirt.io', 'virtualmachineinstances', namespace, name);
}

function isMigratable({ status }: VirtualMachineInstance): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: value }) => type === 'LiveMigratable' && value === 'True',
  );
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
