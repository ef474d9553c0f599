/**
 * What controllers keep of the objects that they mirror. A field that none of them reads would cost memory ten thousand times; a
 * controller that comes to read a further one adds it here.
 */
import type { ControllerRevision } from '../openapi/generated/types/apps_v1.js';
import type { Container, Pod, PodSpec, PodStatus, Toleration } from '../openapi/generated/types/core_v1.js';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from '../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../openapi/meta.js';
import type { Kind } from './runtime/client.js';
import { withoutManagedFields } from './runtime/informer.js';
import { labels } from './constants.js';
import { controllerRevisions, pods, virtualMachineInstances } from './runtime/kinds.js';
import { isHandedOver } from './virtual-machine-instance/status.js';

/** For the informers of all controllers in one process. */
export function keptOf<T extends KubernetesObject>(kind: Kind<T>): (object: T) => T {
  // The kind says what the objects are.
  if (isKind(kind, pods)) return keepPod as unknown as (object: T) => T;
  if (isKind(kind, virtualMachineInstances)) return keepInstance as unknown as (object: T) => T;
  if (isKind(kind, controllerRevisions)) return keepRevision as unknown as (object: T) => T;
  return withoutManagedFields;
}

function isKind(a: Kind<KubernetesObject>, b: Kind<KubernetesObject>): boolean {
  return a.group === b.group && a.resource === b.resource;
}

function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> {
  const entries = keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]]);
  // Just these keys were copied.
  return Object.fromEntries(entries) as Pick<T, K>;
}

/** What schedulers weigh, and where it is. */
const podSpecFields = [
  'nodeName',
  'schedulerName',
  'schedulingGates',
  'priority',
  'priorityClassName',
  'preemptionPolicy',
  'overhead',
] as const satisfies readonly (keyof PodSpec)[];
/** Only pods that wait for a node are asked for these, but for affinity: that also binds those that come later. */
const unboundFields = [
  'nodeSelector',
  'topologySpreadConstraints',
] as const satisfies readonly (keyof PodSpec)[];
const podStatusFields = [
  'phase',
  'reason',
  'message',
  'conditions',
  'qosClass',
  'nominatedNodeName',
] as const satisfies readonly (keyof PodStatus)[];

function keepPod(pod: Pod): Pod {
  const { apiVersion, kind, metadata } = withoutManagedFields(pod);
  const { spec, status } = pod;
  return {
    apiVersion,
    kind,
    metadata,
    ...(spec === undefined ? {} : { spec: keepPodSpec(spec) }),
    ...(status === undefined ? {} : { status: keepPodStatus(status) }),
  };
}

function keepPodSpec(spec: PodSpec): PodSpec {
  const { containers, initContainers, volumes, affinity, nodeName } = spec;
  const tolerations = (spec.tolerations ?? []).filter((each) => nodeName === undefined || endures(each));
  const claims = (volumes ?? []).filter(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  return {
    ...pick(spec, podSpecFields),
    ...(nodeName === undefined ? pick(spec, unboundFields) : {}),
    ...(affinity === undefined ? {} : { affinity }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(claims.length === 0 ? {} : { volumes: claims }),
    containers: containers.map(keepContainer),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(keepContainer) }),
  };
}

/** It also matters to a pod that has its node. */
const endures = ({ effect }: Toleration): boolean => effect === undefined || effect === 'NoExecute';

const keepContainer = (container: Container): Container => pick(container, ['name', 'resources']);

function keepPodStatus(status: PodStatus): PodStatus {
  const { containerStatuses, initContainerStatuses } = status;
  const keep = (each: NonNullable<PodStatus['containerStatuses']>[number]): typeof each =>
    pick(each, ['name', 'ready', 'state', 'restartCount', 'image', 'imageID']);
  return {
    ...pick(status, podStatusFields),
    ...(containerStatuses === undefined ? {} : { containerStatuses: containerStatuses.map(keep) }),
    ...(initContainerStatuses === undefined
      ? {}
      : { initContainerStatuses: initContainerStatuses.map(keep) }),
  };
}

/** Of an instance that a node agent runs, the pod is made: what it was made from is of no more use. */
function keepInstance(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const whole = withoutManagedFields(vmi);
  return isHandedOver(vmi.status?.phase) ? { ...whole, spec: keepInstanceSpec(vmi.spec) } : whole;
}

function keepInstanceSpec({ domain, ...spec }: VirtualMachineInstanceSpec): VirtualMachineInstanceSpec {
  const volumes = (spec.volumes ?? []).filter(
    (volume) => volume.persistentVolumeClaim ?? volume.dataVolume ?? volume.ephemeral,
  );
  return {
    ...pick(spec, ['terminationGracePeriodSeconds', 'evictionStrategy', 'priorityClassName']),
    ...(volumes.length === 0 ? {} : { volumes }),
    domain: { ...pick(domain, ['cpu', 'memory', 'resources']), devices: {} },
  };
}

/** Of the specs that instances were started from, that they are there. */
function keepRevision(revision: ControllerRevision): ControllerRevision {
  const { data, ...rest } = withoutManagedFields(revision);
  const ofStart = rest.metadata.labels?.[labels.createdBy] !== undefined;
  return ofStart || data === undefined ? rest : { ...rest, data };
}
