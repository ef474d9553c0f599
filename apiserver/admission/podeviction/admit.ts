/** Admits an eviction: the one way for the subresource `pods/eviction` standalone, and for the webhook in a cluster. */
import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { Registry } from '../../registry/registry.js';
import { serverActor } from '../../subresources/server-user.js';
import { decideEviction } from './decide.js';

export interface EvictionDependencies {
  readonly registry: Pick<Registry, 'lookups' | 'guaranteedUpdate'>;
  readonly configuration: () => KubeVirtConfiguration;
}

export interface EvictionOptions {
  readonly dryRun: boolean;
  /** Annotations of the Eviction, by which the descheduler makes itself known. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

const requestedByAnnotation = 'requested-by';
const descheduler = 'sigs.k8s.io/descheduler';
const evictionSourceAnnotation = 'kubevirt.io/eviction-source';

/** Undefined if the pod may go; else why not: the answer is then 429 with that message. Marks the VMI that has to move away. */
export async function admitEviction(
  pod: Pod,
  { dryRun, annotations }: EvictionOptions,
  { registry, configuration }: EvictionDependencies,
): Promise<string | undefined> {
  const decision = await decideEviction(pod, registry.lookups, configuration());
  if (decision.action === 'allow') return undefined;
  if (decision.action === 'evacuate') {
    const { namespace, name } = decision.vmi.metadata;
    const target = { group: 'kubevirt.io', resource: 'virtualmachineinstances', namespace, name };
    if (annotations?.[requestedByAnnotation] === descheduler) {
      await registry.guaranteedUpdate<VirtualMachineInstance>(
        target,
        ({ metadata }) => {
          metadata.annotations = { ...metadata.annotations, [evictionSourceAnnotation]: 'descheduler' };
        },
        serverActor(undefined, dryRun),
      );
    }
    await registry.guaranteedUpdate<VirtualMachineInstance>(
      target,
      (vmi) => {
        vmi.status = { ...vmi.status, evacuationNodeName: decision.node };
      },
      serverActor('status', dryRun),
    );
  }
  return decision.message;
}
