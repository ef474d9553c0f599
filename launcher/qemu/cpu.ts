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

export function cpuParts({ vmi, accelerator }: MachineContext): Part[] {
  const { domain } = vmi.spec;
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
    { part: 'cpuModel', model: model(domain.cpu, accelerator) },
    ...features(domain.cpu),
  ];
}

/** Emulation has no host CPU to pass on; `max` is everything that it can emulate. */
function model(cpu: CPU | undefined, accelerator: Accelerator): string {
  const name = cpu?.model ?? '';
  if (name === '' || name === 'host-model' || name === 'host-passthrough') {
    return accelerator === 'kvm' ? 'host' : 'max';
  }
  if (!/^[A-Za-z0-9._-]+$/.test(name)) {
    throw failure('InvalidField', 'spec.domain.cpu.model', `${name} is not a CPU model`);
  }
  return name;
}

function features(cpu: CPU | undefined): Part[] {
  return (cpu?.features ?? []).map(({ name, policy = 'require' }, index) => {
    if (!/^[A-Za-z0-9._-]+$/.test(name)) {
      throw failure(
        'InvalidField',
        `spec.domain.cpu.features[${index}].name`,
        `${name} is not a CPU feature`,
      );
    }
    return cpuProperty(name, policy === 'disable' || policy === 'forbid' ? 'off' : 'on');
  });
}
