/** What the machine is and has, read from the kernel. */
import { access, constants, readdir, readFile, statfs } from 'node:fs/promises';
import { arch, cpus, release, totalmem } from 'node:os';
import { readTextIfPresent } from '../files.js';
import { isInvariant } from './cpu-features.js';

export interface HostFacts {
  /** As Kubernetes calls it: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes of the file system that holds the data directory. */
  readonly disk: { readonly size: number; readonly available: number };
  /** Pages by size, as `hugepages-2Mi`. */
  readonly hugepages: Readonly<Record<string, string>>;
  readonly cpuVendor: string | undefined;
  readonly cpuFlags: ReadonlySet<string>;
  /** The time stamp counter, where it is invariant and the kernel tells its frequency (Hz). */
  readonly tsc?: { readonly frequency: number; readonly scalable: boolean } | undefined;
  /** /dev/kvm is there and this process may use it. */
  readonly kvm: boolean;
  readonly machineId: string;
  readonly bootId: string;
  readonly kernel: string;
  readonly osImage: string;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

async function isUsable(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function text(path: string): Promise<string> {
  return (await readTextIfPresent(path))?.trim() ?? '';
}

function cpuField(cpuinfo: string, name: string): string | undefined {
  return new RegExp(`^${name}\\s*:\\s*(.*)$`, 'm').exec(cpuinfo)?.[1];
}

/** `hugepages-2048kB` → `hugepages-2Mi`. */
async function readHugepages(): Promise<Record<string, string>> {
  const directory = '/sys/kernel/mm/hugepages';
  const names = await readdir(directory).catch(() => []);
  const found: Record<string, string> = {};
  for (const name of names) {
    const kibibytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    if (kibibytes === 0) continue;
    const count = Number(await text(`${directory}/${name}/nr_hugepages`));
    const gibibyte = 1024 ** 2;
    const size = kibibytes % gibibyte === 0 ? `${kibibytes / gibibyte}Gi` : `${kibibytes / 1024}Mi`;
    found[`hugepages-${size}`] = count === 0 ? '0' : `${count * kibibytes}Ki`;
  }
  return found;
}

/** Where the kernel has been built or patched to tell it. */
const frequencyFile = '/sys/devices/system/cpu/cpu0/tsc_freq_khz';
const hertz = 1000;

async function readTsc(cpuinfo: string, flags: ReadonlySet<string>): Promise<HostFacts['tsc']> {
  const frequency = Number(await text(frequencyFile)) * hertz;
  if (!Number.isSafeInteger(frequency) || frequency === 0 || !isInvariant(flags)) return undefined;
  const virtualization = cpuField(cpuinfo, 'vmx flags')?.split(' ') ?? [];
  return { frequency, scalable: flags.has('tsc_scale') || virtualization.includes('tsc_scaling') };
}

export async function readHostFacts(dataDirectory: string): Promise<HostFacts> {
  const [cpuinfo, osRelease, machineId, bootId, disk, hugepages, kvm] = await Promise.all([
    readFile('/proc/cpuinfo', 'utf8'),
    text('/etc/os-release'),
    text('/etc/machine-id'),
    text('/proc/sys/kernel/random/boot_id'),
    statfs(dataDirectory),
    readHugepages(),
    isUsable('/dev/kvm'),
  ]);
  const cpuFlags = new Set((cpuField(cpuinfo, 'flags') ?? '').split(' ').filter((flag) => flag !== ''));
  return {
    architecture: architectures[arch()] ?? arch(),
    cpus: cpus().length,
    memory: totalmem(),
    disk: { size: disk.blocks * disk.bsize, available: disk.bavail * disk.bsize },
    hugepages,
    cpuVendor: cpuField(cpuinfo, 'vendor_id'),
    cpuFlags,
    tsc: await readTsc(cpuinfo, cpuFlags),
    kvm,
    machineId,
    bootId,
    kernel: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(osRelease)?.[1] ?? 'Linux',
  };
}
