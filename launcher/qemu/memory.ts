import type { DomainSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import { quantityBytes } from '../quantity.js';
import { mostVcpus, topology } from './cpu.js';
import { machine, object, option, type MachineContext, type Part, type Properties } from './model.js';
import { numaCells, type NumaCell } from './numa.js';

const backend = 'ram0';
/** QEMU wants whole pages; firmware and guests count in MiB. */
const granularity = 1 << 20;

/** Bytes of the guest's memory: `memory.guest`, else what is asked of the node. */
export function guestMemory(domain: DomainSpec): number {
  const { memory, resources } = domain;
  const sources = [
    ['spec.domain.memory.guest', memory?.guest],
    ['spec.domain.resources.requests.memory', resources?.requests?.['memory']],
    ['spec.domain.resources.limits.memory', resources?.limits?.['memory']],
  ] as const;
  for (const [path, quantity] of sources) {
    if (quantity !== undefined) return wholeSize(path, quantity);
  }
  throw failure(
    'InvalidField',
    'spec.domain.memory.guest',
    'the guest has no memory; give it a size such as 1Gi',
  );
}

function wholeSize(path: string, quantity: string | number): number {
  const bytes = quantityBytes(quantity);
  if (bytes === undefined || bytes < granularity) {
    throw failure('InvalidField', path, `${quantity} is not a memory size of at least 1Mi`);
  }
  return Math.ceil(bytes / granularity) * granularity;
}

/** Whether the node keeps all of the guest's memory for it from the start. */
export function hasFixedMemory({ cpu, memory, launchSecurity, devices }: DomainSpec): boolean {
  return Boolean(
    memory?.hugepages ||
    cpu?.dedicatedCpuPlacement ||
    cpu?.realtime ||
    launchSecurity ||
    devices.gpus?.length ||
    devices.hostDevices?.length,
  );
}

export function memoryParts(context: MachineContext): Part[] {
  const { domain } = context.vmi.spec;
  const size = guestMemory(domain);
  const limit = domain.memory?.maxGuest;
  const most = limit === undefined ? size : wholeSize('spec.domain.memory.maxGuest', limit);
  // Address space in which a memory device can be plugged later.
  const room = most > size ? `,slots=16,maxmem=${most / 1024}k` : '';
  return [
    ...backends(context, size),
    option('m', `size=${size / 1024}k${room}`),
    // No page of a guest that must not wait is ever fetched, nor shared with another.
    ...(domain.cpu?.realtime ? [option('overcommit', 'mem-lock=on'), machine('mem-merge', 'off')] : []),
  ];
}

function backends(context: MachineContext, size: number): Part[] {
  const { domain } = context.vmi.spec;
  const kind = backendKind(domain);
  if (domain.cpu?.numa?.guestMappingPassthrough) {
    return numaCells(context, size, pageSize(domain) ?? granularity).flatMap((cell) => cellParts(kind, cell));
  }
  if (domain.memory?.hugepages) {
    const last = mostVcpus(topology(domain)) - 1;
    const cpus = Array.from({ length: last + 1 }, (_, cpu) => cpu);
    return cellParts(kind, { id: 0, cpus, size, hostNode: undefined });
  }
  return [object(kind.type, backend, { ...kind.properties, size }), machine('memory-backend', backend)];
}

function cellParts({ type, properties }: BackendKind, { id, cpus, size, hostNode }: NumaCell): Part[] {
  const memdev = `ram-node${id}`;
  const bound: Properties = hostNode === undefined ? {} : { 'host-nodes': [hostNode], policy: 'bind' };
  const words = [`nodeid=${id}`, ...cpus.map((cpu) => `cpus=${cpu}`), `memdev=${memdev}`];
  return [
    object(type, memdev, { ...properties, ...bound, size }),
    option('numa', ['node', ...words].join(',')),
  ];
}

interface BackendKind {
  readonly type: string;
  readonly properties: Properties;
}

function backendKind(domain: DomainSpec): BackendKind {
  const shared = (domain.devices.filesystems ?? []).length > 0;
  const huge = pageSize(domain);
  if (huge === undefined) {
    return shared
      ? { type: 'memory-backend-memfd', properties: { share: true } }
      : { type: 'memory-backend-ram', properties: {} };
  }
  // Taken now, so that a node without enough of them fails at the start and not in the guest's middle.
  const properties = { hugetlb: true, hugetlbsize: huge, prealloc: true, ...(shared ? { share: true } : {}) };
  return { type: 'memory-backend-memfd', properties };
}

const defaultHugepage = '2Mi';

function pageSize({ memory }: DomainSpec): number | undefined {
  if (!memory?.hugepages) return undefined;
  const size = memory.hugepages.pageSize || defaultHugepage;
  const bytes = quantityBytes(size);
  if (bytes !== undefined && bytes >= granularity) return bytes;
  throw failure('InvalidField', 'spec.domain.memory.hugepages.pageSize', `${size} is not a page size`);
}
