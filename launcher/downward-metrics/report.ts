import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { topology, vcpus } from '../qemu/cpu.js';
import { guestMemory } from '../qemu/memory.js';
import { taskTimes, ticksPerSecond } from '../statistics/proc.js';

type Value = { readonly type: 'string' | 'uint64' | 'real64'; readonly value: string };

/** One of vhostmd's metrics: of the node that is the guest's host, or of the guest itself. */
export type Metric = Value & { readonly name: string; readonly context: 'host' | 'vm' };

const kibPerMib = 1024;
const mebibyte = 1 << 20;

const text = (value: string): Value => ({ type: 'string', value });
const whole = (value: number): Value => ({ type: 'uint64', value: String(Math.round(value)) });
const real = (value: number): Value => ({ type: 'real64', value: value.toFixed(6) });

export interface ReportOptions {
  readonly vmi: VirtualMachineInstance;
  /** Undefined while QEMU has not started. */
  readonly qemuPid: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly readProc?: (path: string) => string;
}

/** What a guest may know of its node, by the names that vhostmd's clients look for. Memory in MiB, times in seconds. */
export function collectMetrics(options: ReportOptions): Metric[] {
  const { vmi, qemuPid, now, readProc = (path) => readFileSync(`/proc/${path}`, 'utf8') } = options;
  const memory = numbers(readProc('meminfo'));
  const paging = numbers(readProc('vmstat'));
  const mib = (name: string) => (memory.get(name) ?? 0) / kibPerMib;
  const size = guestMemory(vmi.spec.domain) / mebibyte;
  const host: [name: string, value: Value][] = [
    ['HostName', text(vmi.status?.nodeName ?? '')],
    ['VirtualizationVendor', text('kubevirt.io')],
    ['Time', whole(now / 1000)],
    ['NumberOfPhysicalCPUs', whole(cpus().length)],
    ['TotalCPUTime', real(hostTime(readProc('stat')))],
    ['FreePhysicalMemory', whole(mib('MemFree'))],
    ['FreeVirtualMemory', whole(mib('MemAvailable') + mib('SwapFree'))],
    ['UsedVirtualMemory', whole(mib('MemTotal') - mib('MemAvailable') + mib('SwapTotal') - mib('SwapFree'))],
    ['MemoryAllocatedToVirtualServers', whole(size)],
    ['PagedInMemory', whole((paging.get('pgpgin') ?? 0) / kibPerMib)],
    ['PagedOutMemory', whole((paging.get('pgpgout') ?? 0) / kibPerMib)],
  ];
  const vm: [name: string, value: Value][] = [
    ['TotalCPUTime', real(qemuPid === undefined ? 0 : runTime(readProc(`${qemuPid}/stat`)))],
    ['ResourceProcessorLimit', whole(vcpus(topology(vmi.spec.domain)))],
    ['PhysicalMemoryAllocatedToVirtualSystem', whole(size)],
    ['ResourceMemoryLimit', whole(size)],
  ];
  return [
    ...host.map(([name, value]): Metric => ({ name, context: 'host', ...value })),
    ...vm.map(([name, value]): Metric => ({ name, context: 'vm', ...value })),
  ];
}

/** The lines `name: number unit` and `name number` of a file in /proc. */
function numbers(file: string): ReadonlyMap<string, number> {
  return new Map(
    [...file.matchAll(/^(\w+):?\s+(\d+)/gm)].map(([, name = '', value]) => [name, Number(value)]),
  );
}

/** Seconds in which the node's CPUs were busy. */
function hostTime(stat: string): number {
  const [, user = 0, nice = 0, system = 0] = (stat.split('\n')[0] ?? '').split(/\s+/).map(Number);
  return (user + nice + system) / ticksPerSecond;
}

/** Seconds that a process has run. */
function runTime(stat: string): number {
  const { user, system } = taskTimes(stat);
  return user + system;
}

export function metricsXml(metrics: readonly Metric[]): string {
  const entries = metrics.map(
    ({ name, type, context, value }) =>
      `  <metric type="${type}" context="${context}">\n    <name>${name}</name>\n    <value>${escapeXml(value)}</value>\n  </metric>\n`,
  );
  return `<metrics>\n${entries.join('')}</metrics>\n`;
}

function escapeXml(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
