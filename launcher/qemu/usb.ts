import { inputsOf, usbController } from './devices.js';
import { disksOf } from './disks.js';
import { device, express, type MachineContext, type Part } from './model.js';

/** A USB controller, when something is on it. */
export function usbParts(context: MachineContext): Part[] {
  const disks = disksOf(context.vmi).some(({ disk, cdrom }) => (disk?.bus ?? cdrom?.bus) === 'usb');
  const inputs = inputsOf(context).some(({ bus }) => (bus ?? 'usb') === 'usb');
  return disks || inputs ? [device('qemu-xhci', usbController, express('controller'))] : [];
}
