/** `objectgraph`: the objects that a machine is made of and depends on, for backup and the like. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  ObjectGraphNode,
  ObjectGraphOptions,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  Volume,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import type { LabelSelector } from '../../openapi/meta.js';
import { compileLabelSelector, SelectorError, type Labels } from '../../openapi/selectors.js';
import { badRequest, notFound } from '../errors/api-error.js';
import type { Registry } from '../registry/registry.js';
import type { RequestContext } from '../request.js';
import { kubevirtGroup } from './groups.js';
import { instanceResources, onInstance, type InstanceResource } from './instances.js';
import type { ActionSubresource } from './interface.js';
import { optionsReader } from './options.js';

export interface ObjectGraphDependencies {
  readonly registry: Pick<Registry, 'get' | 'lookups'>;
  readonly definitions: Definitions;
}

const roleLabel = 'kubevirt.io/dependency-type';

/** Group and role of each kind. */
const kinds = {
  VirtualMachine: [kubevirtGroup, 'compute'],
  VirtualMachineInstance: [kubevirtGroup, 'compute'],
  Pod: ['', 'compute'],
  VirtualMachineInstancetype: ['instancetype.kubevirt.io', 'config'],
  VirtualMachineClusterInstancetype: ['instancetype.kubevirt.io', 'config'],
  VirtualMachinePreference: ['instancetype.kubevirt.io', 'config'],
  VirtualMachineClusterPreference: ['instancetype.kubevirt.io', 'config'],
  ControllerRevision: ['apps', 'config'],
  ConfigMap: ['', 'config'],
  Secret: ['', 'config'],
  ServiceAccount: ['', 'config'],
  DataVolume: ['cdi.kubevirt.io', 'storage'],
  PersistentVolumeClaim: ['', 'storage'],
  NetworkAttachmentDefinition: ['k8s.cni.cncf.io', 'network'],
} as const;
type Kind = keyof typeof kinds;

/** Makes nodes whose objects are in `namespace`, where their kind is in one. */
class Nodes {
  constructor(private readonly namespace: string) {}

  of(kind: Kind, name: string, children: readonly ObjectGraphNode[] = []): ObjectGraphNode {
    return this.in(this.namespace, kind, name, children);
  }

  in(
    namespace: string,
    kind: Kind,
    name: string,
    children: readonly ObjectGraphNode[] = [],
  ): ObjectGraphNode {
    const [apiGroup, role] = kinds[kind];
    return {
      objectReference: { apiGroup, kind, name, namespace },
      labels: { [roleLabel]: role },
      ...(children.length === 0 ? {} : { children: [...children] }),
    };
  }

  /** Of the names that are set. */
  each(kind: Kind, ...names: readonly (string | undefined)[]): ObjectGraphNode[] {
    return names.flatMap((name) => (name === undefined || name === '' ? [] : [this.of(kind, name)]));
  }
}

const optional = (node: ObjectGraphNode): ObjectGraphNode => ({ ...node, optional: true });

export function objectGraphSubresources(dependencies: ObjectGraphDependencies): readonly ActionSubresource[] {
  const readOptions = optionsReader<ObjectGraphOptions>(dependencies.definitions, 'ObjectGraphOptions');
  return instanceResources.map((resource): ActionSubresource => ({
    type: 'action',
    ...onInstance(resource),
    name: 'objectgraph',
    verbs: ['get'],
    handle: async (context) => {
      const wanted = filterOf(readOptions(context));
      const root = await graphOf(dependencies.registry, context, resource);
      const answer = {
        kind: 'ObjectGraphNode',
        apiVersion: `${kubevirtGroup}/v1`,
        ...root,
        children: filtered(root.children, wanted),
      };
      const chunks = [Buffer.from(JSON.stringify(answer))];
      return { kind: 'bytes', status: 200, contentType: 'application/json', chunks };
    },
  }));
}

type Filter = (node: ObjectGraphNode) => boolean;

function filterOf({ includeOptionalNodes = true, labelSelector }: ObjectGraphOptions): Filter {
  const matches = labelSelector === undefined ? () => true : selectorOf(labelSelector);
  return (node) => (includeOptionalNodes || node.optional !== true) && matches(node.labels ?? {});
}

function selectorOf(selector: LabelSelector): (labels: Labels) => boolean {
  try {
    const matcher = compileLabelSelector(selector);
    return (labels) => matcher.matches(labels);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(`labelSelector: ${error.message}`);
    throw error;
  }
}

function filtered(nodes: readonly ObjectGraphNode[] = [], wanted: Filter): ObjectGraphNode[] {
  return nodes.filter(wanted).map(({ children, ...node }) => {
    const below = filtered(children, wanted);
    return below.length === 0 ? node : { ...node, children: below };
  });
}

async function graphOf(
  registry: ObjectGraphDependencies['registry'],
  { info }: RequestContext,
  resource: InstanceResource,
): Promise<ObjectGraphNode> {
  const { namespace = '', name = '' } = info;
  const target = { group: kubevirtGroup, namespace, name };
  const nodes = new Nodes(namespace);
  const vmi = await registry.get<VirtualMachineInstance>({ ...target, resource: 'virtualmachineinstances' });
  if (resource === 'virtualmachineinstances') {
    if (vmi === undefined) throw notFound(kubevirtGroup, resource, name);
    const pods = await launcherPods(registry, vmi);
    return nodes.of('VirtualMachineInstance', name, [
      ...nodes.each('Pod', ...pods),
      ...specNodes(vmi.spec, nodes),
    ]);
  }
  const vm = await registry.get<VirtualMachine>({ ...target, resource });
  if (vm === undefined) throw notFound(kubevirtGroup, resource, name);
  const pods = vmi === undefined ? [] : await launcherPods(registry, vmi);
  const instance =
    vmi === undefined ? [] : [nodes.of('VirtualMachineInstance', name, nodes.each('Pod', ...pods))];
  return nodes.of('VirtualMachine', name, [
    ...instance,
    ...instancetypeNodes(vm, nodes),
    ...(vm.spec.template.spec === undefined ? [] : specNodes(vm.spec.template.spec, nodes)),
  ]);
}

async function launcherPods(
  { lookups }: ObjectGraphDependencies['registry'],
  { metadata }: VirtualMachineInstance,
): Promise<string[]> {
  const pods = await lookups.list<Pod>('', 'pods', metadata.namespace);
  const owned = pods.filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  return owned.map((pod) => pod.metadata.name);
}

function instancetypeNodes({ spec, status }: VirtualMachine, nodes: Nodes): ObjectGraphNode[] {
  const matchers = [
    { matcher: spec.instancetype, used: status?.instancetypeRef, words: ['Instancetype'] as const },
    { matcher: spec.preference, used: status?.preferenceRef, words: ['Preference'] as const },
  ];
  return matchers.flatMap(({ matcher, used, words: [word] }) => {
    if (matcher === undefined) return [];
    const namespaced = `VirtualMachine${word}` as const;
    const cluster = `VirtualMachineCluster${word}` as const;
    const isNamespaced = matcher.kind?.toLowerCase() === namespaced.toLowerCase();
    const { name = '' } = matcher;
    const source = isNamespaced ? nodes.of(namespaced, name) : nodes.in('', cluster, name);
    // The machine goes by its own copy, once it has one.
    const revision = used?.controllerRevisionRef?.name ?? matcher.revisionName;
    return [...(name === '' ? [] : [optional(source)]), ...nodes.each('ControllerRevision', revision)];
  });
}

function specNodes(spec: VirtualMachineInstanceSpec, nodes: Nodes): ObjectGraphNode[] {
  const credentials = (spec.accessCredentials ?? []).flatMap(({ sshPublicKey, userPassword }) =>
    nodes.each('Secret', sshPublicKey?.source.secret?.secretName, userPassword?.source.secret?.secretName),
  );
  const volumes = (spec.volumes ?? []).flatMap((volume) => volumeNodes(volume, nodes));
  const networks = (spec.networks ?? []).flatMap(({ multus }) =>
    multus === undefined ? [] : [optional(attachmentNode(multus.networkName, nodes))],
  );
  return [...credentials, ...volumes, ...networks];
}

function attachmentNode(networkName: string, nodes: Nodes): ObjectGraphNode {
  const slash = networkName.indexOf('/');
  if (slash < 0) return nodes.of('NetworkAttachmentDefinition', networkName);
  const name = networkName.slice(slash + 1);
  return nodes.in(networkName.slice(0, slash), 'NetworkAttachmentDefinition', name);
}

function volumeNodes(volume: Volume, nodes: Nodes): ObjectGraphNode[] {
  const { dataVolume, persistentVolumeClaim, ephemeral, memoryDump } = volume;
  if (dataVolume !== undefined) {
    const claim = nodes.of('PersistentVolumeClaim', dataVolume.name);
    return [nodes.of('DataVolume', dataVolume.name, [claim])];
  }
  const cloudInit = volume.cloudInitNoCloud ?? volume.cloudInitConfigDrive;
  const { sysprep } = volume;
  return [
    ...nodes.each(
      'PersistentVolumeClaim',
      persistentVolumeClaim?.claimName,
      ephemeral?.persistentVolumeClaim?.claimName,
      memoryDump?.claimName,
    ),
    ...nodes.each('ConfigMap', volume.configMap?.name, sysprep?.configMap?.name),
    ...nodes.each(
      'Secret',
      volume.secret?.secretName,
      sysprep?.secret?.name,
      cloudInit?.secretRef?.name,
      cloudInit?.networkDataSecretRef?.name,
    ),
    ...nodes.each('ServiceAccount', volume.serviceAccount?.serviceAccountName),
  ];
}
