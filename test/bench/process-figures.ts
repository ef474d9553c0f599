/** What the kernel says of a process. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system time since it started, all threads. Milliseconds; as fine as the kernel's clock tick. */
export function cpuMilliseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** Bytes. */
export function residentBytes(pid: number): number {
  return kilobytes(readFileSync(`/proc/${pid}/status`, 'utf8'), /^VmRSS:\s+(\d+) kB/m);
}

/** Pages that no other process shares. Bytes. */
export function privateBytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return [/^Private_Clean:\s+(\d+) kB/m, /^Private_Dirty:\s+(\d+) kB/m].reduce(
    (sum, line) => sum + kilobytes(rollup, line),
    0,
  );
}

function kilobytes(text: string, line: RegExp): number {
  return Number(line.exec(text)?.[1] ?? 0) * 1024;
}
