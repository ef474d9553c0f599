/** How much memory the guest sees. */
import { toBytes } from '../../openapi/quantity.js';
import type { DomainSpec } from '../../openapi/generated/types/kubevirt_v1.js';

/** Admission gives every VMI its memory; this is for one that came without. */
const leastMemory = 8 * 1024 ** 2;

/** Bytes of memory that the guest sees. */
export function guestMemory({ memory, resources }: DomainSpec): number {
  const quantity = memory?.guest ?? resources?.requests?.memory ?? resources?.limits?.memory;
  return quantity === undefined ? leastMemory : toBytes(quantity);
}
