import type { CPU, DomainSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import { quantityValue } from '../quantity.js';
import { cpuProperty, option, type Accelerator, type MachineContext, type Part } from './model.js';

export interface Topology {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
  /** Sockets that may be plugged in while the guest runs, present ones included. */
  readonly maxSockets: number;
}

/** The guest's topology: `spec.domain.cpu`, else as many sockets as CPUs are asked of the node, else one CPU. */
export function topology(domain: DomainSpec): Topology {
  const { cpu } = domain;
  const given = [cpu?.sockets, cpu?.cores, cpu?.threads].some((count) => (count ?? 0) > 0);
  const sockets = given ? cpu?.sockets || 1 : requestedCpus(domain);
  const maxSockets = cpu?.maxSockets ?? 0;
  return {
    sockets,
    cores: cpu?.cores || 1,
    threads: cpu?.threads || 1,
    maxSockets: Math.max(sockets, maxSockets),
  };
}

function requestedCpus({ resources }: DomainSpec): number {
  const asked = resources?.limits?.['cpu'] ?? resources?.requests?.['cpu'];
  if (asked === undefined) return 1;
  const value = quantityValue(asked);
  if (value === undefined) throw failure('InvalidField', 'spec.domain.resources', `cpu is ${asked}`);
  return Math.max(1, Math.ceil(value));
}

export function vcpus({ sockets, cores, threads }: Topology): number {
  return sockets * cores * threads;
}

/** Virtual CPUs, those that may be plugged in included. */
export function mostVcpus({ maxSockets, cores, threads }: Topology): number {
  return maxSockets * cores * threads;
}

export function cpuParts(context: MachineContext): Part[] {
  const { domain } = context.vmi.spec;
  const { sockets, cores, threads, maxSockets } = topology(domain);
  const smp = [
    `cpus=${sockets * cores * threads}`,
    `maxcpus=${maxSockets * cores * threads}`,
    `sockets=${maxSockets}`,
    `cores=${cores}`,
    `threads=${threads}`,
  ];
  return [
    option('smp', smp.join(',')),
    { part: 'cpuModel', model: model(domain.cpu, context.accelerator) },
    ...features(domain.cpu),
    ...performanceMonitoring(domain),
    ...timeStampCounter(context),
  ];
}

/** Neither of these has a model of its own: the guest gets what the node has, and emulation everything that it can. */
const hostModels = ['host-model', 'host-passthrough'];

function model(cpu: CPU | undefined, accelerator: Accelerator): string {
  const name = cpu?.model ?? '';
  if (name === '' || hostModels.includes(name)) return accelerator === 'kvm' ? 'host' : 'max';
  if (!/^[A-Za-z0-9._-]+$/.test(name)) {
    throw failure('InvalidField', 'spec.domain.cpu.model', `${name} is not a CPU model`);
  }
  return name;
}

function features(cpu: CPU | undefined): Part[] {
  const parts = (cpu?.features ?? []).map(({ name, policy = 'require' }, index) => {
    if (!/^[A-Za-z0-9._-]+$/.test(name)) {
      const path = `spec.domain.cpu.features[${index}].name`;
      throw failure('InvalidField', path, `${name} is not a CPU feature`);
    }
    return cpuProperty(featureProperty(name), policy === 'disable' || policy === 'forbid' ? 'off' : 'on');
  });
  // New processors lack MPX, so a guest that has seen it could not move to them.
  const withoutMpx =
    cpu !== undefined &&
    !hostModels.includes(cpu.model ?? '') &&
    !cpu.features?.some(({ name }) => name === 'mpx');
  return withoutMpx ? [...parts, cpuProperty('mpx', 'off')] : parts;
}

/** libvirt's names have underscores where QEMU's properties have dashes. */
function featureProperty(name: string): string {
  return name.replaceAll('_', '-');
}

/** Counters interrupt a guest that must not be, and a confidential one may not have them. */
function performanceMonitoring({ cpu, launchSecurity }: DomainSpec): Part[] {
  return cpu?.realtime || launchSecurity?.tdx ? [cpuProperty('pmu', 'off')] : [];
}

/** The frequency that the guest counts on, where it must not change when it moves to another node. */
function timeStampCounter({ vmi, accelerator }: MachineContext): Part[] {
  const { cpu, features: switches } = vmi.spec.domain;
  const frequency = vmi.status?.topologyHints?.tscFrequency;
  const invariant = cpu?.features?.some(
    ({ name, policy }) => name === 'invtsc' && (policy ?? 'require') === 'require',
  );
  const { reenlightenment } = switches?.hyperv ?? {};
  const counts = invariant || (reenlightenment && (reenlightenment.enabled ?? true));
  // Emulation has a clock of its own.
  if (frequency === undefined || !counts || accelerator === 'tcg') return [];
  return [cpuProperty('tsc-frequency', String(frequency))];
}
