import { assemble, type CommandLine } from './assemble.js';
import { clockParts } from './clock.js';
import { cpuParts } from './cpu.js';
import { deviceParts } from './devices.js';
import { diskParts } from './disks.js';
import { filesystemParts } from './filesystems.js';
import { firmwareParts } from './firmware.js';
import { graphicsParts } from './graphics.js';
import { hostDeviceParts } from './host-devices.js';
import { paravirtualParts } from './hyperv.js';
import { launchSecurityParts } from './launch-security.js';
import { machineParts } from './machine.js';
import { memoryParts } from './memory.js';
import type { MachineContext, Part } from './model.js';
import { networkParts } from './network.js';
import { serialParts } from './serial.js';
import { smbiosParts } from './smbios.js';
import { refuseUnsupported } from './supported-fields.js';
import { tpmParts } from './tpm.js';
import { usbParts } from './usb.js';

const concerns: readonly ((context: MachineContext) => Part[])[] = [
  machineParts,
  firmwareParts,
  smbiosParts,
  cpuParts,
  paravirtualParts,
  memoryParts,
  clockParts,
  networkParts,
  usbParts,
  serialParts,
  diskParts,
  filesystemParts,
  graphicsParts,
  deviceParts,
  tpmParts,
  hostDeviceParts,
  launchSecurityParts,
];

/**
 * The arguments for QEMU (without the program itself) that make the machine of a VMI.
 * @throws LauncherError `UnsupportedField` or `InvalidField`, naming the field.
 */
export function commandLine(context: MachineContext): CommandLine {
  refuseUnsupported(context.vmi);
  return assemble(concerns.flatMap((parts) => parts(context)));
}
