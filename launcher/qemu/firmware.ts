import { failure } from '../errors.js';
import { machine, option, type MachineContext, type Part } from './model.js';

/** BIOS (SeaBIOS, QEMU's default), EFI flash, or a kernel given directly. */
export function firmwareParts(context: MachineContext): Part[] {
  return [...efiParts(context), ...kernelParts(context), ...biosParts(context)];
}

function efiParts({ vmi, efi }: MachineContext): Part[] {
  if (!efi) return [];
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

function biosParts({ vmi }: MachineContext): Part[] {
  const useSerial = vmi.spec.domain.firmware?.bootloader?.bios?.useSerial ?? false;
  return useSerial
    ? [option('boot', 'strict=on'), machine('graphics', 'off')]
    : [option('boot', 'strict=on')];
}
