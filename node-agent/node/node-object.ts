/** The Node of this machine, from its facts. Pure. */
import type { Node, NodeStatus } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import { deviceResources } from '../../openapi/launcher/pod.js';
import type { New, Quantity } from '../../openapi/meta.js';
import { nodeAgentAddressAnnotation } from '../../openapi/node-agent.js';
import { bytesToQuantity } from '../../openapi/quantity.js';
import { timestamp } from '../../controllers/runtime/clock.js';
import {
  findCondition,
  withCondition,
  type AnyCondition,
  type WantedCondition,
} from '../../controllers/runtime/conditions.js';
import { deviceShares, obsoleteCpuModels } from '../configuration.js';
import { cpuFeatures, emulatedFlags } from './cpu-features.js';
import { emulatedCpuModels, usableCpuModels } from './cpu-models.js';
import type { HostFacts } from './host-facts.js';

export const heartbeatAnnotation = 'kubevirt.io/heartbeat';
export const schedulableLabel = 'kubevirt.io/schedulable';
const obsoleteHostModelLabel = 'node-labeller.kubevirt.io/obsolete-host-model';

export interface NodeIdentity {
  readonly name: string;
  /** Of the machine, as others reach it. */
  readonly address: string;
  /** `host:port` of the stream server. */
  readonly streamAddress: string;
  readonly version: string;
}

/** What a Node is made of. */
export interface NodeSource {
  readonly identity: NodeIdentity;
  readonly facts: HostFacts;
  readonly configuration: KubeVirtConfiguration;
}

/** Below this share of the disk the node says that it has too little. */
const diskPressureShare = 0.05;
const maximumPods = 1000;

/** As libvirt calls them. */
const vendors: Readonly<Record<string, string>> = {
  GenuineIntel: 'Intel',
  AuthenticAMD: 'AMD',
  HygonGenuine: 'Hygon',
};

/** Labels that this agent keeps, whoever made the Node: what a guest's processor can be here. */
export function nodeLabels({ facts, configuration }: Omit<NodeSource, 'identity'>): Record<string, string> {
  const { kvm, cpuVendor, cpuFlags, tsc } = facts;
  const obsolete = obsoleteCpuModels(configuration);
  const flags = kvm ? cpuFlags : emulatedFlags;
  const models = kvm ? usableCpuModels(cpuVendor, flags) : emulatedCpuModels(flags);
  const newest = usableCpuModels(cpuVendor, cpuFlags).at(-1);
  const named = (prefix: string, names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [`${prefix}.node.kubevirt.io/${name}`, 'true']));
  return {
    [schedulableLabel]: 'true',
    ...named('cpu-vendor', cpuVendor === undefined ? [] : [vendors[cpuVendor] ?? cpuVendor]),
    ...named(
      'cpu-model',
      models.filter((model) => !obsolete.has(model)),
    ),
    ...named('cpu-feature', cpuFeatures(flags)),
    ...named('host-model-cpu', newest === undefined ? [] : [newest]),
    // The default says nothing of hosts: only who configures the list asks for this label.
    ...(newest !== undefined && configuration.obsoleteCPUModels?.[newest] === true
      ? { [obsoleteHostModelLabel]: 'true' }
      : {}),
    // Emulation has a clock of its own.
    ...(tsc === undefined || !kvm
      ? {}
      : {
          'cpu-timer.node.kubevirt.io/tsc-frequency': String(tsc.frequency),
          'cpu-timer.node.kubevirt.io/tsc-scalable': String(tsc.scalable),
        }),
  };
}

const processorLabel = /^(cpu-vendor|cpu-model|cpu-feature|cpu-timer|host-model-cpu)\.node\.kubevirt\.io\//;

/** Those that no longer hold, to be taken away. */
export function staleLabels(
  present: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): string[] {
  return Object.keys(present).filter(
    (name) => (processorLabel.test(name) || name === obsoleteHostModelLabel) && wanted[name] === undefined,
  );
}

/** Labels that a kubelet would set. */
function kubeletLabels({ identity, facts }: NodeSource): Record<string, string> {
  return {
    'kubernetes.io/hostname': identity.name,
    'kubernetes.io/arch': facts.architecture,
    'kubernetes.io/os': 'linux',
  };
}

export function newNode(source: NodeSource, now: number): New<Node> {
  const { identity } = source;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: identity.name,
      labels: { ...kubeletLabels(source), ...nodeLabels(source) },
      annotations: nodeAnnotations(identity, now),
    },
    spec: {},
  };
}

export function nodeAnnotations({ streamAddress }: NodeIdentity, now: number): Record<string, string> {
  return { [nodeAgentAddressAnnotation]: streamAddress, [heartbeatAnnotation]: timestamp(now) };
}

function resources({ facts, configuration }: NodeSource): Record<string, Quantity> {
  return {
    cpu: String(facts.cpus),
    memory: `${Math.floor(facts.memory / 1024)}Ki`,
    'ephemeral-storage': `${Math.floor(facts.disk.size / 1024)}Ki`,
    pods: String(maximumPods),
    ...facts.hugepages,
    ...(facts.kvm ? { [deviceResources.kvm]: bytesToQuantity(deviceShares(configuration)) } : {}),
  };
}

/** As kubelets say it. */
const shuttingDown = 'node is shutting down';

export function isShuttingDown(node: Node | undefined): boolean {
  const ready = findCondition(node?.status?.conditions, 'Ready');
  return ready?.status === 'False' && ready.message?.includes(shuttingDown) === true;
}

function readiness(leaving: boolean): WantedCondition {
  return leaving
    ? { type: 'Ready', status: 'False', reason: 'NodeShutdown', message: shuttingDown }
    : { type: 'Ready', status: 'True', reason: 'NodeAgentReady', message: 'the node agent is ready' };
}

function wantedConditions({ disk }: HostFacts, leaving: boolean): WantedCondition[] {
  const pressed = disk.available < disk.size * diskPressureShare;
  return [
    readiness(leaving),
    pressed
      ? {
          type: 'DiskPressure',
          status: 'True',
          reason: 'NodeHasDiskPressure',
          message: 'the disk is nearly full',
        }
      : {
          type: 'DiskPressure',
          status: 'False',
          reason: 'NodeHasNoDiskPressure',
          message: 'enough disk space is left',
        },
  ];
}

function hostname(identity: NodeIdentity): NodeStatus['addresses'] {
  return [
    { type: 'InternalIP', address: identity.address },
    { type: 'Hostname', address: identity.name },
  ];
}

/** Others' conditions are kept. `leaving`: the machine shuts down. */
export function nodeStatus(
  before: NodeStatus | undefined,
  source: NodeSource,
  now: number,
  leaving: boolean,
): NodeStatus {
  const { identity, facts } = source;
  let conditions: AnyCondition[] = [...(before?.conditions ?? [])];
  for (const condition of wantedConditions(facts, leaving))
    conditions = withCondition(conditions, condition, now);
  const own = resources(source);
  return {
    ...before,
    addresses: hostname(identity) ?? [],
    // Extended resources that device plugins or administrators have added stay.
    capacity: { ...before?.capacity, ...own },
    allocatable: { ...before?.allocatable, ...own },
    conditions,
    nodeInfo: {
      architecture: facts.architecture,
      bootID: facts.bootId,
      containerRuntimeVersion: `nativirt://${identity.version}`,
      kernelVersion: facts.kernel,
      kubeletVersion: `nativirt-${identity.version}`,
      kubeProxyVersion: '',
      machineID: facts.machineId,
      operatingSystem: 'linux',
      osImage: facts.osImage,
      systemUUID: facts.machineId,
    },
  };
}
