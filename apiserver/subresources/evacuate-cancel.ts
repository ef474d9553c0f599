/** `evacuate/cancel`: takes back the mark by which an eviction has an instance moved off its node. A migration that has begun goes on. */
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type {
  EvacuateCancelOptions,
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import { badRequest } from '../errors/api-error.js';
import type { Registry } from '../registry/registry.js';
import type { Reply } from '../request.js';
import { kubevirtGroup } from './groups.js';
import { cannot, findInstance, instanceResources, onInstance } from './instances.js';
import type { ActionSubresource } from './interface.js';
import { isDryRun, optionsReader } from './options.js';
import { serverActor } from './server-user.js';

export interface EvacuateCancelDependencies {
  readonly registry: Pick<Registry, 'get' | 'lookups' | 'guaranteedUpdate'>;
  readonly definitions: Definitions;
  readonly configuration: () => KubeVirtConfiguration;
}

const done: Reply = { kind: 'bytes', status: 200, contentType: 'application/json', chunks: [] };

export function evacuateCancelSubresources(
  dependencies: EvacuateCancelDependencies,
): readonly ActionSubresource[] {
  const { registry, definitions, configuration } = dependencies;
  // Clients of KubeVirt 1.7 name no node.
  const anyNode = { evacuationNodeName: '' };
  const read = optionsReader<EvacuateCancelOptions>(definitions, 'EvacuateCancelOptions', anyNode);
  return instanceResources.map((resource) => ({
    type: 'action',
    ...onInstance(resource),
    name: 'evacuate/cancel',
    verbs: ['update'],
    handle: async (context) => {
      const options = read(context);
      const dryRun = isDryRun(context, options);
      const vmi = await findInstance(registry, context, resource);
      await refuseWhileDraining(vmi, registry, configuration());
      if (marked(vmi) !== '') await unmark(vmi, options.evacuationNodeName, registry, dryRun);
      return done;
    },
  }));
}

const marked = ({ status }: VirtualMachineInstance): string => status?.evacuationNodeName ?? '';

/** Whoever drains a node by its taint wants all instances away, marked or not. */
async function refuseWhileDraining(
  vmi: VirtualMachineInstance,
  { lookups }: Pick<Registry, 'lookups'>,
  { migrations }: KubeVirtConfiguration,
): Promise<void> {
  const taintKey = migrations?.nodeDrainTaintKey;
  const name = marked(vmi) || (vmi.status?.nodeName ?? '');
  if (taintKey === undefined || name === '') return;
  const node = await lookups.get<Node>('', 'nodes', undefined, name);
  if (node?.spec?.taints?.some(({ key }) => key === taintKey) === true)
    throw badRequest(`node ${name} is being drained: it has the taint ${taintKey}; remove that first`);
}

/** `expected`: the node that the client believes it is to leave; empty: any. */
async function unmark(
  { metadata: { namespace, name } }: VirtualMachineInstance,
  expected: string,
  registry: Pick<Registry, 'guaranteedUpdate'>,
  dryRun: boolean,
): Promise<void> {
  const target = { group: kubevirtGroup, resource: 'virtualmachineinstances', namespace, name };
  await registry.guaranteedUpdate<VirtualMachineInstance>(
    target,
    (current) => {
      const node = marked(current);
      if (expected !== '' && node !== expected && node !== '')
        throw cannot(current, `it is to leave node ${node}, not ${expected}`);
      delete current.status?.evacuationNodeName;
    },
    serverActor('status', dryRun),
  );
}
