import type { FeatureHyperv } from '../../openapi/generated/types/kubevirt_v1.js';
import { cpuProperty, onOff, type MachineContext, type Part } from './model.js';

/** Switches of `features.hyperv` and the CPU property of each. */
const switches = {
  relaxed: 'hv-relaxed',
  vapic: 'hv-vapic',
  vpindex: 'hv-vpindex',
  runtime: 'hv-runtime',
  synic: 'hv-synic',
  synictimer: 'hv-stimer',
  reset: 'hv-reset',
  frequencies: 'hv-frequencies',
  reenlightenment: 'hv-reenlightenment',
  tlbflush: 'hv-tlbflush',
  ipi: 'hv-ipi',
  evmcs: 'hv-evmcs',
} as const satisfies Partial<Record<keyof FeatureHyperv, string>>;

const defaultSpinlockRetries = 4096;

/** Paravirtualisation that guests see through CPUID. All of it is KVM's: under emulation there is none to switch. */
export function paravirtualParts({ vmi, accelerator }: MachineContext): Part[] {
  if (accelerator === 'tcg') return [];
  const { apic, kvm, pvspinlock, hyperv, hypervPassthrough } = vmi.spec.domain.features ?? {};
  const parts: Part[] = [];
  if (apic?.endOfInterrupt !== undefined) parts.push(cpuProperty('kvm-pv-eoi', onOff(apic.endOfInterrupt)));
  if (kvm?.hidden) parts.push(cpuProperty('kvm', 'off'));
  if (pvspinlock?.enabled === false) parts.push(cpuProperty('kvm-pv-unhalt', 'off'));
  if (hypervPassthrough?.enabled) parts.push(cpuProperty('hv-passthrough', 'on'));
  return hyperv ? [...parts, ...enlightenments(hyperv)] : parts;
}

const enabled = (feature: { enabled?: boolean } | undefined) =>
  feature !== undefined && (feature.enabled ?? true);

function enlightenments(hyperv: FeatureHyperv): Part[] {
  const parts: Part[] = [];
  for (const name of Object.keys(switches) as (keyof typeof switches)[]) {
    if (enabled(hyperv[name])) parts.push(cpuProperty(switches[name], 'on'));
  }
  const { spinlocks, vendorid, synictimer, tlbflush } = hyperv;
  if (enabled(spinlocks)) {
    parts.push(cpuProperty('hv-spinlocks', String(spinlocks?.spinlocks ?? defaultSpinlockRetries)));
  }
  if (enabled(vendorid) && vendorid?.vendorid) parts.push(cpuProperty('hv-vendor-id', vendorid.vendorid));
  if (enabled(synictimer) && enabled(synictimer?.direct)) parts.push(cpuProperty('hv-stimer-direct', 'on'));
  if (enabled(tlbflush) && enabled(tlbflush?.direct)) parts.push(cpuProperty('hv-tlbflush-direct', 'on'));
  if (enabled(tlbflush) && enabled(tlbflush?.extended)) parts.push(cpuProperty('hv-tlbflush-ext', 'on'));
  return parts;
}
