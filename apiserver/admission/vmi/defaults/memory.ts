/** Guest memory, and how much may be added later. */
import type { Quantity } from '../../../../openapi/meta.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import { bytesToQuantity, compareQuantities, isQuantity, toBytes } from '../../../../openapi/quantity.js';

const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;
/** Memory blocks are plugged in whole. */
const blockBytes = 2 * mebibyte;
const minimumHotpluggable = gibibyte;

/** Without guest memory of its own the guest gets what it requests, is limited to, or one huge page. */
export function setGuestMemory(spec: VirtualMachineInstanceSpec): void {
  const memory = (spec.domain.memory ??= {});
  if (memory.guest !== undefined) return;
  const { requests, limits } = spec.domain.resources ?? {};
  const guest = [requests?.['memory'], limits?.['memory'], memory.hugepages?.pageSize].find(isPositive);
  if (guest !== undefined) memory.guest = guest;
}

export function setMaximumGuestMemory(
  spec: VirtualMachineInstanceSpec,
  configuration: KubeVirtConfiguration,
): void {
  const memory = spec.domain.memory;
  if (memory?.guest === undefined || memory.maxGuest !== undefined) return;
  const { maxGuest, maxHotplugRatio = 1 } = configuration.liveUpdateConfiguration ?? {};
  const maximum = maxGuest ?? bytesToQuantity(toBytes(memory.guest) * maxHotplugRatio);
  if (memoryHotplugObstacle(spec, maximum) === undefined) memory.maxGuest = maximum;
}

/** Why memory can not be added to such a guest while it runs; undefined if it can. */
export function memoryHotplugObstacle(
  spec: VirtualMachineInstanceSpec,
  maximum: Quantity | undefined,
): string | undefined {
  const { cpu, launchSecurity, memory } = spec.domain;
  const block = memory?.hugepages?.pageSize === '1Gi' ? gibibyte : blockBytes;
  if (cpu?.realtime !== undefined) return 'memory can not be added to a realtime guest';
  if (cpu?.numa?.guestMappingPassthrough !== undefined)
    return 'memory can not be added with guestMappingPassthrough';
  if (launchSecurity !== undefined) return 'memory can not be added to an encrypted guest';
  if (memory?.guest === undefined) return 'memory.guest must be set for memory to be added later';
  if (maximum === undefined) return 'memory.maxGuest must be set for memory to be added later';
  if (compareQuantities(memory.guest, maximum) > 0) return 'memory.guest is greater than memory.maxGuest';
  if (toBytes(memory.guest) % block !== 0)
    return `memory.guest must be a multiple of ${bytesToQuantity(block)}`;
  if (toBytes(maximum) % block !== 0)
    return `memory.maxGuest must be a multiple of ${bytesToQuantity(block)}`;
  if (spec.architecture !== 'amd64') return 'memory can be added to amd64 guests only';
  if (toBytes(memory.guest) < minimumHotpluggable) return 'memory can be added only to guests of 1Gi or more';
  return undefined;
}

const isPositive = (value: Quantity | undefined): value is Quantity =>
  value !== undefined && isQuantity(value) && compareQuantities(value, 0) > 0;
