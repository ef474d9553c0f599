/** What QEMU and the guest agent answer when they are asked for counters. */
import type {
  DiskStatistics,
  FileSystemStatistics,
  MemoryStatistics,
} from '../../openapi/launcher/statistics.js';
import { isObject, integer, text, type JsonObject } from '../qmp/messages.js';
import { diskId } from '../qemu/disk-devices.js';

const nanoseconds = 1e9;

const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Threads of the virtual CPUs. @param answer of `query-cpus-fast` */
export function vcpuThreads(answer: unknown): { readonly id: number; readonly thread: number }[] {
  return objects(answer).map((cpu) => ({
    id: integer(cpu['cpu-index']),
    thread: integer(cpu['thread-id']),
  }));
}

/** @param answer of `query-blockstats`: a device's path in QEMU's tree has the id that we gave it */
export function diskStatistics(answer: unknown, names: readonly string[]): DiskStatistics[] {
  const byId = new Map(names.map((name) => [diskId(name), name]));
  return objects(answer).flatMap(({ qdev, stats }) => {
    const name = text(qdev)
      .split('/')
      .map((part) => byId.get(part))
      .find((found) => found !== undefined);
    if (name === undefined || !isObject(stats)) return [];
    const traffic = (kind: 'rd' | 'wr' | 'flush') => ({
      operations: integer(stats[`${kind}_operations`]),
      time: integer(stats[`${kind}_total_time_ns`]) / nanoseconds,
    });
    return [
      {
        name,
        read: { ...traffic('rd'), bytes: integer(stats['rd_bytes']) },
        write: { ...traffic('wr'), bytes: integer(stats['wr_bytes']) },
        flush: traffic('flush'),
      },
    ];
  });
}

/** A guest without a driver tells nothing, and one that lacks a counter says -1 as an unsigned number. */
const guestCounters = {
  total: 'stat-total-memory',
  free: 'stat-free-memory',
  available: 'stat-available-memory',
  cached: 'stat-disk-caches',
  swapIn: 'stat-swap-in',
  swapOut: 'stat-swap-out',
  majorFaults: 'stat-major-faults',
  minorFaults: 'stat-minor-faults',
} as const satisfies Record<keyof NonNullable<MemoryStatistics['guest']>, string>;

/** @param answer of `qom-get` for `guest-stats` of the balloon */
export function guestMemoryStatistics(answer: unknown): MemoryStatistics['guest'] {
  const { stats, 'last-update': lastUpdate } = isObject(answer) ? answer : {};
  if (!isObject(stats) || integer(lastUpdate) === 0) return undefined;
  const known = Object.entries(guestCounters).flatMap(([name, counter]): [string, number][] => {
    const value = stats[counter];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? [[name, value]] : [];
  });
  return Object.fromEntries(known);
}

/** @param answer of `query-balloon` */
export function balloonSize(answer: unknown): number | undefined {
  return isObject(answer) && typeof answer['actual'] === 'number' ? answer['actual'] : undefined;
}

/** @param answer of `guest-get-fsinfo` */
export function fileSystemStatistics(answer: unknown): FileSystemStatistics[] {
  return objects(answer).flatMap((entry) => {
    const { 'total-bytes': capacity, 'used-bytes': used } = entry;
    if (typeof capacity !== 'number' || typeof used !== 'number') return [];
    return [
      {
        disk: text(entry['name']),
        mountPoint: text(entry['mountpoint']),
        type: text(entry['type']),
        capacity,
        used,
      },
    ];
  });
}
