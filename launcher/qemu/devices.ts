import { failure } from '../errors.js';
import { hasFixedMemory } from './memory.js';
import {
  conventional,
  cpuProperty,
  device,
  express,
  given,
  object,
  option,
  virtioDevice,
  type MachineContext,
  type Part,
} from './model.js';

/** Of a VMI whose guest is not to report free pages, whatever is configured. */
const withoutReportingAnnotation = 'kubevirt.io/free-page-reporting-disabled';
const balloonId = 'balloon0';
/** Of the balloon in QEMU's tree of objects. */
export const balloonPath = `/machine/peripheral/${balloonId}`;

/** Balloon, random numbers, watchdog, panic devices, vsock. */
export function deviceParts(context: MachineContext): Part[] {
  return [
    ...balloonParts(context),
    ...rngParts(context),
    ...watchdogParts(context),
    ...panicParts(context),
    ...vsockParts(context),
  ];
}

function balloonParts(context: MachineContext): Part[] {
  const { settings, vmi } = context;
  const { domain } = vmi.spec;
  if (domain.devices.autoattachMemBalloon === false) return [];
  // The guest reports pages that it has freed, and the node gets them back, unless they are the guest's own for good.
  const reporting =
    settings.freePageReporting &&
    vmi.metadata.annotations?.[withoutReportingAnnotation] !== 'true' &&
    !hasFixedMemory(domain);
  const period = settings.balloonStatsPeriod;
  return [
    virtioDevice(context, 'balloon', balloonId, 'balloon', {
      'free-page-reporting': reporting,
      ...(period > 0 ? { 'guest-stats-polling-interval': period } : {}),
    }),
  ];
}

function rngParts(context: MachineContext): Part[] {
  if (!context.vmi.spec.domain.devices.rng) return [];
  return [
    object('rng-random', 'rng-source', { filename: '/dev/urandom' }),
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

function panicParts({ vmi, accelerator }: MachineContext): Part[] {
  return (vmi.spec.domain.devices.panicDevices ?? []).flatMap(({ model = 'isa' }, index): Part[] => {
    switch (model) {
      case 'isa':
        return [device('pvpanic', `panic${index}`, given)];
      case 'pvpanic':
        return [device('pvpanic-pci', `panic${index}`, conventional('panic'))];
      case 'hyperv':
        // Registers of the hypervisor, which emulation lacks.
        return accelerator === 'kvm' ? [cpuProperty('hv-crash', 'on')] : [];
      default: {
        const path = `spec.domain.devices.panicDevices[${index}].model`;
        throw failure('UnsupportedField', path, `${model} is not one of isa, pvpanic, hyperv`);
      }
    }
  });
}

function vsockParts({ vmi }: MachineContext): Part[] {
  if (!vmi.spec.domain.devices.autoattachVSOCK) return [];
  const cid = vmi.status?.VSOCKCID;
  if (cid === undefined) {
    const why = 'no context id has been assigned to the instance (status.VSOCKCID)';
    throw failure('InvalidField', 'spec.domain.devices.autoattachVSOCK', why);
  }
  return [device('vhost-vsock-pci-non-transitional', 'vsock0', express('vsock'), { 'guest-cid': cid })];
}
