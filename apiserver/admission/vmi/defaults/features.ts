/** Features, Hyper-V enlightenments with what they need, timers, probes. */
import type {
  FeatureHyperv,
  Probe,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import { architectureDefaults } from './architecture.js';

interface Switch {
  enabled?: boolean;
}

/** Naming a feature switches it on. */
function switchOn(feature: Switch | undefined): void {
  if (feature !== undefined) feature.enabled ??= true;
}

export function setFeatures(spec: VirtualMachineInstanceSpec): void {
  const features = (spec.domain.features ??= {});
  (features.acpi ??= {}).enabled ??= architectureDefaults(spec.architecture).acpi;
  for (const feature of [features.apic, features.smm, features.pvspinlock]) switchOn(feature);
  if (features.hyperv !== undefined) setHyperv(features.hyperv);
}

function setHyperv(hyperv: FeatureHyperv): void {
  for (const feature of Object.values(hyperv) as (Switch | undefined)[]) switchOn(feature);
  switchOn(hyperv.synictimer?.direct);
  switchOn(hyperv.tlbflush?.direct);
  switchOn(hyperv.tlbflush?.extended);
  if (hyperv.spinlocks?.enabled === true) hyperv.spinlocks.spinlocks ??= 4096;
}

/** What one enlightenment needs of another; a user who switched the other off is told by validation. */
export const hypervRequirements = [
  { feature: 'evmcs', requires: 'vapic' },
  { feature: 'ipi', requires: 'vpindex' },
  { feature: 'tlbflush', requires: 'vpindex' },
  { feature: 'synictimer', requires: 'synic' },
  { feature: 'synic', requires: 'vpindex' },
] as const satisfies readonly { feature: keyof FeatureHyperv; requires: keyof FeatureHyperv }[];

export function setHypervRequirements(spec: VirtualMachineInstanceSpec): void {
  const hyperv = spec.domain.features?.hyperv;
  if (hyperv === undefined) return;
  for (const { feature, requires } of hypervRequirements) {
    if (hyperv[feature]?.enabled !== true) continue;
    const needed = (hyperv[requires] ??= {});
    needed.enabled ??= true;
    if (!needed.enabled) return;
  }
  if (hyperv.evmcs?.enabled === true) requireCpuFeature(spec, 'vmx');
}

function requireCpuFeature(spec: VirtualMachineInstanceSpec, name: string): void {
  const cpu = (spec.domain.cpu ??= {});
  const features = (cpu.features ??= []);
  const present = features.find((feature) => feature.name === name);
  if (present === undefined) features.push({ name, policy: 'require' });
  else present.policy = 'require';
}

export function setTimers(spec: VirtualMachineInstanceSpec): void {
  const timer = spec.domain.clock?.timer;
  if (timer === undefined) return;
  for (const each of [timer.hpet, timer.kvm, timer.pit, timer.rtc, timer.hyperv]) {
    if (each !== undefined) each.present ??= true;
  }
}

export function setProbe(probe: Probe | undefined): void {
  if (probe === undefined) return;
  probe.timeoutSeconds = atLeastOne(probe.timeoutSeconds, 1);
  probe.periodSeconds = atLeastOne(probe.periodSeconds, 10);
  probe.successThreshold = atLeastOne(probe.successThreshold, 1);
  probe.failureThreshold = atLeastOne(probe.failureThreshold, 3);
}

const atLeastOne = (value: number | undefined, otherwise: number): number =>
  value === undefined || value < 1 ? otherwise : value;
