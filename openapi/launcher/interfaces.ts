/** What a VMI's spec means for its interfaces, where launcher and node agent have to agree. */
import { createHash } from 'node:crypto';
import type { Interface, VirtualMachineInstance } from '../generated/types/kubevirt_v1.js';

/** The interfaces of a VMI; one on the pod network where it names none and does not refuse it. */
export function interfacesOf({ spec }: Pick<VirtualMachineInstance, 'spec'>): readonly Interface[] {
  const { interfaces, autoattachPodInterface } = spec.domain.devices;
  if (interfaces !== undefined && interfaces.length > 0) {
    return interfaces.filter(({ state }) => state !== 'absent');
  }
  return autoattachPodInterface === false ? [] : [{ name: 'default', masquerade: {} }];
}

/** A locally administered address, the same whenever this VMI starts. */
export function stableMac(uid: string, name: string): string {
  const digest = createHash('sha256').update(`${uid}/${name}`).digest();
  return ['02', ...[...digest.subarray(0, 5)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':');
}

/** The MAC address that the guest's interface has, unless its binding gives it the pod's. */
export function guestMac(
  { metadata: { uid } }: Pick<VirtualMachineInstance, 'metadata'>,
  { name, macAddress }: Interface,
): string {
  return macAddress === undefined ? stableMac(uid, name) : colonMac(macAddress);
}

/** As QEMU and the kernel write it, from any of the forms that a spec may have. */
export function colonMac(mac: string): string {
  const digits = mac.toLowerCase().replaceAll(/[^0-9a-f]/g, '');
  return (digits.match(/../g) ?? []).join(':');
}
