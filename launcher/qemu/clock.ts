import type { Timer } from '../../openapi/generated/types/kubevirt_v1.js';
import { cpuProperty, machine, onOff, option, type MachineContext, type Part } from './model.js';

export function clockParts(context: MachineContext): Part[] {
  const timer = context.vmi.spec.domain.clock?.timer ?? {};
  return [...realTimeClock(context, timer), ...timers(context, timer)];
}

function realTimeClock({ vmi, now }: MachineContext, { rtc }: Timer): Part[] {
  const { timezone, utc } = vmi.spec.domain.clock ?? {};
  const words = [`base=${base(now, timezone, utc?.offsetSeconds)}`];
  if (rtc?.track !== undefined) words.push(`clock=${rtc.track === 'guest' ? 'vm' : 'host'}`);
  if (rtc?.tickPolicy !== undefined) words.push(`driftfix=${rtc.tickPolicy === 'catchup' ? 'slew' : 'none'}`);
  const parts: Part[] = [option('rtc', words.join(','))];
  // QEMU takes the guest's local time from its own time zone.
  if (timezone !== undefined) parts.push({ part: 'environment', name: 'TZ', value: timezone });
  return parts;
}

function base(now: number, timezone: string | undefined, offsetSeconds: number | undefined): string {
  if (timezone !== undefined) return 'localtime';
  if (!offsetSeconds) return 'utc';
  return new Date(now + offsetSeconds * 1000).toISOString().slice(0, 19);
}

function timers({ accelerator }: MachineContext, { hpet, pit, kvm, hyperv }: Timer): Part[] {
  const parts: Part[] = [];
  if (hpet?.present !== undefined) parts.push(machine('hpet', onOff(hpet.present)));
  if (pit?.present === false) parts.push(machine('pit', 'off'));
  if (accelerator === 'tcg') return parts;
  // These are interfaces of KVM, which emulation lacks.
  if (pit?.tickPolicy === 'delay' || pit?.tickPolicy === 'discard') {
    parts.push(option('global', `kvm-pit.lost_tick_policy=${pit.tickPolicy}`));
  }
  if (kvm?.present === false) parts.push(cpuProperty('kvmclock', 'off'));
  if (hyperv && hyperv.present !== false) parts.push(cpuProperty('hv-time', 'on'));
  return parts;
}
