/** The instance that a request is about: named itself, or by the VirtualMachine that it belongs to. */
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { conflict, notFound, type ApiError } from '../errors/api-error.js';
import { childTraceparent, parseTraceparent } from '../http/trace-context.js';
import type { Registry } from '../registry/registry.js';
import type { RequestContext } from '../request.js';
import { kubevirtGroup, servedEverywhere } from './groups.js';
import type { Subresource } from './interface.js';
import type { InstanceAddress } from './node-agent-dialer.js';

/** Both have the subresources of a running guest. */
export const instanceResources = ['virtualmachineinstances', 'virtualmachines'] as const;
export type InstanceResource = (typeof instanceResources)[number];

type Common = Pick<Subresource, 'resource' | 'namespaced' | 'servedUnder' | 'responseKind'>;

/** What every subresource of a running guest has in common. */
export function onInstance(resource: InstanceResource): Common {
  const kind = resource === 'virtualmachines' ? 'VirtualMachine' : 'VirtualMachineInstance';
  return {
    resource,
    namespaced: true,
    servedUnder: servedEverywhere,
    responseKind: { group: kubevirtGroup, version: 'v1', kind },
  };
}

/** Rejects with NotFound, or a Conflict where there is a VM but no instance of it. */
export async function findInstance(
  registry: Pick<Registry, 'get'>,
  { info }: RequestContext,
  resource: InstanceResource,
): Promise<VirtualMachineInstance> {
  const { namespace, name = '' } = info;
  const target = { group: kubevirtGroup, namespace, name };
  const vmi = await registry.get<VirtualMachineInstance>({ ...target, resource: 'virtualmachineinstances' });
  if (resource === 'virtualmachines') {
    const vm = await registry.get<VirtualMachine>({ ...target, resource });
    if (vm === undefined) throw notFound(kubevirtGroup, resource, name);
    const owned = vmi?.metadata.ownerReferences?.some(({ uid }) => uid === vm.metadata.uid);
    if (owned !== true) throw conflict(kubevirtGroup, resource, name, 'VM is not running');
  }
  if (vmi === undefined) throw notFound(kubevirtGroup, resource, name);
  return vmi;
}

/** As `findInstance`; rejects with a Conflict where the guest does not run. */
export async function findRunningInstance(
  registry: Pick<Registry, 'get'>,
  context: RequestContext,
  resource: InstanceResource,
): Promise<VirtualMachineInstance> {
  const vmi = await findInstance(registry, context, resource);
  const { phase = '', nodeName = '' } = vmi.status ?? {};
  if (phase === 'Running' && nodeName !== '') return vmi;
  throw cannot(vmi, `VMI is not running: its phase is ${phase === '' ? 'Pending' : phase}`);
}

export function cannot({ metadata }: VirtualMachineInstance, why: string): ApiError {
  return conflict(kubevirtGroup, 'virtualmachineinstances', metadata.name, why);
}

export function hasCondition({ status }: VirtualMachineInstance, type: string): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === 'True',
  );
}

export function checkAgentConnected(vmi: VirtualMachineInstance): void {
  if (!hasCondition(vmi, 'AgentConnected')) throw cannot(vmi, 'VMI does not have guest agent connected');
}

/** Where the node agent finds it, with the trace that the request is part of. */
export function addressOf(
  { metadata, status }: VirtualMachineInstance,
  { headers }: RequestContext,
): InstanceAddress {
  const trace = parseTraceparent(headers.traceparent);
  return {
    node: status?.nodeName ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    traceparent: trace && childTraceparent(trace),
  };
}
