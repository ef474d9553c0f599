import { copyFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { createAtomically } from '../disks/files.js';
import { failure } from '../errors.js';
import type { EfiFiles } from './model.js';
import { persistentState } from './persistent-state.js';

interface Firmware {
  readonly code: string;
  readonly template: string;
}

/** Where distributions keep OVMF, the preferred first. */
const plain: readonly Firmware[] = [
  { code: '/usr/share/OVMF/OVMF_CODE_4M.fd', template: '/usr/share/OVMF/OVMF_VARS_4M.fd' },
  { code: '/usr/share/edk2/ovmf/OVMF_CODE.fd', template: '/usr/share/edk2/ovmf/OVMF_VARS.fd' },
  { code: '/usr/share/OVMF/OVMF_CODE.fd', template: '/usr/share/OVMF/OVMF_VARS.fd' },
];

/** With the usual vendors' keys enrolled. */
const secure: readonly Firmware[] = [
  { code: '/usr/share/OVMF/OVMF_CODE_4M.secboot.fd', template: '/usr/share/OVMF/OVMF_VARS_4M.ms.fd' },
  {
    code: '/usr/share/edk2/ovmf/OVMF_CODE.secboot.fd',
    template: '/usr/share/edk2/ovmf/OVMF_VARS.secboot.fd',
  },
  { code: '/usr/share/OVMF/OVMF_CODE.secboot.fd', template: '/usr/share/OVMF/OVMF_VARS.ms.fd' },
];

/** Measured as a whole, for confidential guests. */
const stateless: readonly string[] = [
  '/usr/share/OVMF/OVMF.amdsev.fd',
  '/usr/share/edk2/ovmf/OVMF.amdsev.fd',
  '/usr/share/edk2/ovmf/OVMF.inteltdx.fd',
  '/usr/share/ovmf/OVMF.fd',
];

/**
 * The flash images of an EFI machine, the variables copied into the pod directory or where they outlive it; undefined for a
 * BIOS machine.
 * @throws LauncherError `FirmwareMissing`, `VolumeMissing`, `DiskFull`.
 */
export async function prepareEfi(
  { spec }: VirtualMachineInstance,
  exists: (path: string) => boolean = existsSync,
): Promise<EfiFiles | undefined> {
  const efi = spec.domain.firmware?.bootloader?.efi;
  if (!efi) return undefined;
  const { snp, tdx } = spec.domain.launchSecurity ?? {};
  if (snp ?? tdx) {
    const code = stateless.find(exists);
    if (code === undefined) throw failure('FirmwareMissing', 'EFI firmware for confidential guests');
    return { code, variables: undefined };
  }
  const secureBoot = efi.secureBoot ?? true;
  const found = (secureBoot ? secure : plain).find(({ code, template }) => exists(code) && exists(template));
  if (!found) throw failure('FirmwareMissing', `EFI firmware${secureBoot ? ' with secure boot' : ''}`);
  const folder = efi.persistent ? await persistentState() : podLayout.disks;
  const variables = `${folder}/efi-variables.fd`;
  if (!exists(variables)) {
    await createAtomically(variables, (temporary) => copyFile(found.template, temporary));
  }
  return { code: found.code, variables };
}
