import type { DomainSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import { quantityBytes } from '../quantity.js';
import { machine, object, option, type MachineContext, type Part } from './model.js';

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

export function memoryParts({ vmi }: MachineContext): Part[] {
  const { domain } = vmi.spec;
  const size = guestMemory(domain);
  const limit = domain.memory?.maxGuest;
  const most = limit === undefined ? size : wholeSize('spec.domain.memory.maxGuest', limit);
  // Address space in which a memory device can be plugged later.
  const room = most > size ? `,slots=16,maxmem=${most / 1024}k` : '';
  return [
    object('memory-backend-ram', backend, { size }),
    machine('memory-backend', backend),
    option('m', `size=${size / 1024}k${room}`),
  ];
}
