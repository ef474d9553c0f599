/** What Linux counts, from the files of /proc. */
import type { InterfaceStatistics, Packets } from '../../openapi/launcher/statistics.js';

/** Of Linux's clock ticks in /proc; the same on every architecture that we run on. */
export const ticksPerSecond = 100;

/** Seconds. */
export interface TaskTimes {
  readonly user: number;
  readonly system: number;
  /** Waited for disks; 0 where the kernel does not account for delays. */
  readonly blocked: number;
}

/** @param stat `/proc/PID/stat` or `/proc/PID/task/TID/stat` */
export function taskTimes(stat: string): TaskTimes {
  // The name, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (index: number) => Number(fields[index] ?? 0) / ticksPerSecond;
  return { user: seconds(11), system: seconds(12), blocked: seconds(39) };
}

/** Seconds that a task was runnable without running. @param schedstat `/proc/PID/task/TID/schedstat` */
export function runDelay(schedstat: string): number {
  return Number(schedstat.split(' ')[1] ?? 0) / 1e9;
}

/** Bytes. @param status `/proc/PID/status` */
export function residentMemory(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/**
 * The guest's side of tap devices: what one receives, its guest has sent.
 * @param networkDevices `/proc/PID/net/dev`
 * @param taps names of interfaces, by device
 */
export function tapTraffic(networkDevices: string, taps: ReadonlyMap<string, string>): InterfaceStatistics[] {
  return networkDevices.split('\n').flatMap((line) => {
    const [device, counters] = line.split(':', 2);
    const name = taps.get(device?.trim() ?? '');
    if (name === undefined || counters === undefined) return [];
    const numbers = counters.trim().split(/\s+/).map(Number);
    return [{ name, receive: packets(numbers.slice(8)), transmit: packets(numbers) }];
  });
}

function packets([bytes = 0, count = 0, errors = 0, dropped = 0]: readonly number[]): Packets {
  return { bytes, packets: count, errors, dropped };
}
