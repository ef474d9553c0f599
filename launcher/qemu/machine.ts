import { failure } from '../errors.js';
import { escapeComma, machine, onOff, option, type MachineContext, type Part } from './model.js';

/** What QEMU may not do once the guest runs: start programs, gain privileges, change its scheduling. */
const sandbox = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

const noHoleAnnotation = 'kubevirt.io/disablePCIHole64';

/** The machine type of a VMI, as QEMU knows it. */
export function machineType({ vmi }: Pick<MachineContext, 'vmi'>): string {
  const type = vmi.spec.domain.machine?.type ?? 'q35';
  if (type === '') return 'q35';
  if (type === 'q35' || /^pc-q35-[0-9a-z.-]+$/.test(type)) return type;
  throw failure('UnsupportedField', 'spec.domain.machine.type', `${type} is not one of q35, pc-q35-*`);
}

export function machineParts(context: MachineContext): Part[] {
  const { vmi, accelerator } = context;
  const { features, firmware, rebootPolicy } = vmi.spec.domain;
  const secureBoot = firmware?.bootloader?.efi !== undefined && (firmware.bootloader.efi.secureBoot ?? true);
  const parts = [
    machine('type', machineType(context)),
    machine('usb', 'off'),
    machine('vmport', 'off'),
    machine('dump-guest-core', 'off'),
    option('accel', accelerator),
    option('name', `guest=${escapeComma(`${vmi.metadata.namespace ?? 'default'}_${vmi.metadata.name}`)}`),
    option('no-user-config'),
    option('nodefaults'),
    option('display', 'none'),
    option('sandbox', sandbox),
    // The launcher lets the guest run once it listens to events and to the console.
    option('S'),
  ];
  // Unsaid, QEMU offers it where the accelerator can.
  if (secureBoot) parts.push(machine('smm', 'on'));
  else if (features?.smm) parts.push(machine('smm', onOff(features.smm.enabled ?? true)));
  if (features?.acpi?.enabled === false) parts.push(machine('acpi', 'off'));
  // Guests of 32 bits cannot address what would lie there.
  if (vmi.metadata.annotations?.[noHoleAnnotation] === 'true') {
    parts.push(option('global', 'q35-pcihost.pci-hole64-size=0'));
  }
  if (rebootPolicy === 'Terminate') parts.push(option('action', 'reboot=shutdown'));
  return parts;
}
