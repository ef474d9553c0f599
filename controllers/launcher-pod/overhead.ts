/** Memory that a VM needs beside its guest's: QEMU, the launcher, page tables. */
import { toBytes } from '../../openapi/quantity.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { vcpus } from '../../openapi/cpu-topology.js';

const mebibyte = 1024 ** 2;

/** Resident memory of one launcher (a small Node process). */
const launcher = 64 * mebibyte;
/** QEMU with its libraries, firmware and device models. */
const emulator = 96 * mebibyte;
const perVcpu = 8 * mebibyte;
const perIOThread = 8 * mebibyte;
const graphics = 32 * mebibyte;
const uefi = 64 * mebibyte;
const tpm = 48 * mebibyte;
/** Page tables take eight bytes for each page of 4 KiB. */
const pageTableRatio = 512;

/** Bytes. */
export function memoryOverhead(
  { spec }: VirtualMachineInstance,
  guestBytes: number,
  configuration: KubeVirtConfiguration,
): number {
  const { devices, firmware, ioThreadsPolicy, memory } = spec.domain;
  const fixed =
    launcher +
    emulator +
    guestBytes / pageTableRatio +
    vcpus(spec.domain) * perVcpu +
    (ioThreadsPolicy === undefined ? 0 : perIOThread) +
    (devices.autoattachGraphicsDevice === false ? 0 : graphics) +
    (firmware?.bootloader?.efi === undefined ? 0 : uefi) +
    (devices.tpm === undefined || devices.tpm.enabled === false ? 0 : tpm);
  const ratio = Number(configuration.additionalGuestMemoryOverheadRatio ?? 1);
  const added = memory?.reservedOverhead?.addedOverhead;
  return Math.ceil(fixed * (ratio > 0 ? ratio : 1)) + (added === undefined ? 0 : toBytes(added));
}
