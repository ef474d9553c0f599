import { podLayout } from '../../openapi/launcher/protocol.js';
import type { Input } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import {
  conventional,
  device,
  express,
  given,
  option,
  virtioDevice,
  type MachineContext,
  type Part,
  type Properties,
  type Place,
} from './model.js';

export const usbController = 'usb';
const videoSlot: Place = { kind: 'root', slot: 1 };

const videoDrivers: Readonly<Record<string, string>> = {
  vga: 'VGA',
  virtio: 'virtio-vga',
  bochs: 'bochs-display',
  cirrus: 'cirrus-vga',
  ramfb: 'ramfb',
};

/** Graphics, input, balloon, random numbers, watchdog, panic devices. */
export function deviceParts(context: MachineContext): Part[] {
  return [
    ...graphicsParts(context),
    ...inputParts(context),
    ...balloonParts(context),
    ...rngParts(context),
    ...watchdogParts(context),
    ...panicParts(context),
  ];
}

function graphicsParts({ vmi }: MachineContext): Part[] {
  const { autoattachGraphicsDevice, video } = vmi.spec.domain.devices;
  if (autoattachGraphicsDevice === false) return [];
  const type = video?.type ?? 'vga';
  const driver = videoDrivers[type];
  if (driver === undefined) {
    const known = Object.keys(videoDrivers).join(', ');
    throw failure('UnsupportedField', 'spec.domain.devices.video.type', `${type} is not one of ${known}`);
  }
  const place = type === 'ramfb' ? given : videoSlot;
  const properties: Properties = type === 'vga' ? { vgamem_mb: 16 } : {};
  return [device(driver, 'video0', place, properties), option('vnc', `unix:${podLayout.vncSocket}`)];
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

function balloonParts(context: MachineContext): Part[] {
  if (context.vmi.spec.domain.devices.autoattachMemBalloon === false) return [];
  // The guest reports pages that it has freed, and the node gets them back.
  return [virtioDevice(context, 'balloon', 'balloon0', 'balloon', { 'free-page-reporting': true })];
}

function rngParts(context: MachineContext): Part[] {
  if (!context.vmi.spec.domain.devices.rng) return [];
  return [
    { part: 'object', type: 'rng-random', id: 'rng-source', properties: { filename: '/dev/urandom' } },
    virtioDevice(context, 'rng', 'rng0', 'rng', { rng: 'rng-source' }),
  ];
}

function watchdogParts({ vmi }: MachineContext): Part[] {
  const { watchdog } = vmi.spec.domain.devices;
  if (!watchdog?.i6300esb) return [];
  const action = watchdog.i6300esb.action ?? 'reset';
  if (!['reset', 'poweroff', 'shutdown'].includes(action)) {
    const path = 'spec.domain.devices.watchdog.i6300esb.action';
    throw failure('UnsupportedField', path, `${action} is not one of reset, poweroff, shutdown`);
  }
  return [
    device('i6300esb', `watchdog-${watchdog.name}`, conventional('watchdog')),
    option('action', `watchdog=${action}`),
  ];
}

function panicParts({ vmi }: MachineContext): Part[] {
  return (vmi.spec.domain.devices.panicDevices ?? []).map(({ model = 'isa' }, index) => {
    if (model === 'isa') return device('pvpanic', `panic${index}`, given);
    if (model === 'pvpanic') return device('pvpanic-pci', `panic${index}`, conventional('panic'));
    const path = `spec.domain.devices.panicDevices[${index}].model`;
    throw failure('UnsupportedField', path, `${model} is not one of isa, pvpanic`);
  });
}
