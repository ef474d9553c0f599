import type { Input } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { failure } from '../errors.js';
import { usbController } from './buses.js';
import { disksOf } from './disks.js';
import { hasUsbHostDevices } from './host-devices.js';
import { device, express, given, option, type MachineContext, type Part } from './model.js';

/** Devices that clients may redirect at one time. */
export const redirectedDevices = 4;

/** The USB controller, when something can be on it; input devices; the ends of redirected client devices. */
export function usbParts(context: MachineContext): Part[] {
  const { devices } = context.vmi.spec.domain;
  const disks = disksOf(context.vmi).some(({ disk, cdrom }) => (disk?.bus ?? cdrom?.bus) === 'usb');
  const inputs = inputsOf(context).some(({ bus }) => (bus ?? 'usb') === 'usb');
  const redirected = devices.clientPassthrough !== undefined;
  const controller =
    disks || inputs || redirected || hasUsbHostDevices(context)
      ? [device('qemu-xhci', usbController, express('controller'))]
      : [];
  return [...controller, ...inputParts(context), ...(redirected ? redirectionParts() : [])];
}

export function inputsOf({ vmi }: Pick<MachineContext, 'vmi'>): readonly Input[] {
  const { inputs, autoattachInputDevice } = vmi.spec.domain.devices;
  if (inputs && inputs.length > 0) return inputs;
  return autoattachInputDevice ? [{ name: 'tablet0', type: 'tablet', bus: 'usb' }] : [];
}

function inputParts(context: MachineContext): Part[] {
  return inputsOf(context).map(({ name, type, bus = 'usb' }, index) => {
    const path = `spec.domain.devices.inputs[${index}]`;
    if (type !== 'tablet' && type !== 'keyboard') {
      throw failure('UnsupportedField', `${path}.type`, `${type} is not one of tablet, keyboard`);
    }
    if (bus === 'virtio') return device(`virtio-${type}-pci`, `input-${name}`, express('input'));
    const driver = type === 'keyboard' ? 'usb-kbd' : 'usb-tablet';
    if (bus === 'usb') return device(driver, `input-${name}`, given, { bus: `${usbController}.0` });
    throw failure('UnsupportedField', `${path}.bus`, `${bus} is not one of usb, virtio`);
  });
}

/** QEMU listens on a socket for each; whoever connects speaks the usbredir protocol. */
function redirectionParts(): Part[] {
  return Array.from({ length: redirectedDevices }, (_, index) => {
    const chardev = `usbredir${index}`;
    const path = `${podLayout.usbRedirectionSockets}${index}.sock`;
    return [
      option('chardev', `socket,id=${chardev},path=${path},server=on,wait=off`),
      device('usb-redir', `redirected${index}`, given, { bus: `${usbController}.0`, chardev }),
    ];
  }).flat();
}
