import { podLayout } from '../../openapi/launcher/protocol.js';
import { failure } from '../errors.js';
import { escapeComma, machine, option, type MachineContext, type Part } from './model.js';

/** BIOS (SeaBIOS, QEMU's default), EFI flash, or a kernel given directly. */
export function firmwareParts(context: MachineContext): Part[] {
  return [...efiParts(context), ...kernelParts(context), ...bootParts(context), ...acpiTableParts(context)];
}

function efiParts({ vmi, efi }: MachineContext): Part[] {
  if (!efi) return [];
  // A confidential guest is measured with its firmware as a whole, which keeps no variables.
  if (efi.variables === undefined) return [option('bios', efi.code)];
  const secure = vmi.spec.domain.firmware?.bootloader?.efi?.secureBoot ?? true;
  const flash = (node: string, filename: string, readOnly: boolean): Part => ({
    part: 'blockdev',
    properties: {
      driver: 'raw',
      'node-name': node,
      'read-only': readOnly,
      file: { driver: 'file', filename, 'read-only': readOnly },
    },
  });
  const parts = [
    flash('efi-code', efi.code, true),
    flash('efi-variables', efi.variables, false),
    machine('pflash0', 'efi-code'),
    machine('pflash1', 'efi-variables'),
  ];
  // Only code in system management mode may write the variables, else the guest could forge its own keys.
  if (secure) parts.push(option('global', 'driver=cfi.pflash01,property=secure,value=on'));
  return parts;
}

function kernelParts({ vmi, kernel }: MachineContext): Part[] {
  const append = vmi.spec.domain.firmware?.kernelBoot?.kernelArgs;
  const parts: Part[] = [];
  if (kernel?.kernel !== undefined) parts.push(option('kernel', kernel.kernel));
  if (kernel?.initrd !== undefined) parts.push(option('initrd', kernel.initrd));
  if (append === undefined || append === '') return parts;
  if (kernel?.kernel === undefined) {
    const why = 'there is no kernel to take them; set kernelBoot.container.kernelPath';
    throw failure('InvalidField', 'spec.domain.firmware.kernelBoot.kernelArgs', why);
  }
  return [...parts, option('append', append)];
}

/** Milliseconds in which somebody who starts a machine paused can open the boot menu after all. */
const menuTime = 10_000;

function bootParts({ vmi }: MachineContext): Part[] {
  const menu = vmi.spec.startStrategy === 'Paused' ? `menu=on,splash-time=${menuTime},` : '';
  const parts = [option('boot', `${menu}strict=on`)];
  const useSerial = vmi.spec.domain.firmware?.bootloader?.bios?.useSerial ?? false;
  return useSerial ? [...parts, machine('graphics', 'off')] : parts;
}

/** Licences of Windows: each is a file of the secret that the spec names. */
function acpiTableParts({ vmi }: MachineContext): Part[] {
  const { slicNameRef, msdmNameRef } = vmi.spec.domain.firmware?.acpi ?? {};
  const table = (signature: string, volume: string, file: string) =>
    option('acpitable', `sig=${signature},file=${escapeComma(`${podLayout.volumes}/${volume}/${file}`)}`);
  return [
    ...(slicNameRef ? [table('SLIC', slicNameRef, 'slic.bin')] : []),
    ...(msdmNameRef ? [table('MSDM', msdmNameRef, 'msdm.bin')] : []),
  ];
}
