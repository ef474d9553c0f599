/** Metrics of what runs inside a node's virtual machines, under the names that KubeVirt publishes. Gathered when they are read. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MachineStatistics } from '../../openapi/launcher/statistics.js';

export interface MeasuredMachine {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly statistics: MachineStatistics;
}

/** The machines that answer in time. */
export type MeasureMachines = () => Promise<readonly MeasuredMachine[]>;

/** Milliseconds that an answer is good for: all metrics of one scrape come of it. */
const roundMilliseconds = 1000;

/** Asks once for whoever asks in the same second. */
export function inRounds(measure: MeasureMachines, now: () => number): MeasureMachines {
  let round: { readonly answer: ReturnType<MeasureMachines>; readonly since: number } | undefined;
  return () => {
    if (round === undefined || now() - round.since >= roundMilliseconds)
      round = { answer: measure(), since: now() };
    return round.answer;
  };
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | undefined;
}

interface Family {
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** Beside those of the machine. */
  readonly labels?: readonly string[];
  readonly samples: (machine: MeasuredMachine) => readonly Sample[];
}

const machineLabels = ['node', 'namespace', 'name'] as const;

const one = (value: number | undefined): readonly Sample[] => [{ labels: {}, value }];
const counter = (help: string, value: (statistics: MachineStatistics) => number | undefined): Family => ({
  type: 'counter',
  help,
  samples: ({ statistics }) => one(value(statistics)),
});
const gauge = (help: string, value: (statistics: MachineStatistics) => number | undefined): Family => ({
  type: 'gauge',
  help,
  samples: ({ statistics }) => one(value(statistics)),
});

type Of<K extends 'vcpus' | 'disks' | 'interfaces' | 'fileSystems'> = MachineStatistics[K][number];

const ofDisks = (help: string, value: (disk: Of<'disks'>) => number): Family => ({
  type: 'counter',
  help,
  labels: ['drive'],
  samples: ({ statistics }) =>
    statistics.disks.map((disk) => ({ labels: { drive: disk.name }, value: value(disk) })),
});

const ofInterfaces = (help: string, value: (entry: Of<'interfaces'>) => number): Family => ({
  type: 'counter',
  help,
  labels: ['interface'],
  samples: ({ statistics }) =>
    statistics.interfaces.map((entry) => ({ labels: { interface: entry.name }, value: value(entry) })),
});

const ofVcpus = (help: string, value: (vcpu: Of<'vcpus'>) => number, state?: 'running'): Family => ({
  type: 'counter',
  help,
  labels: state === undefined ? ['id'] : ['id', 'state'],
  samples: ({ statistics }) =>
    statistics.vcpus.map((vcpu) => ({
      labels: { id: String(vcpu.id), ...(state === undefined ? {} : { state }) },
      value: value(vcpu),
    })),
});

const ofFileSystems = (help: string, value: (entry: Of<'fileSystems'>) => number): Family => ({
  type: 'gauge',
  help,
  labels: ['disk_name', 'mount_point', 'file_system_type'],
  samples: ({ statistics }) =>
    statistics.fileSystems.map((entry) => ({
      labels: { disk_name: entry.disk, mount_point: entry.mountPoint, file_system_type: entry.type },
      value: value(entry),
    })),
});

const families: Readonly<Record<string, Family>> = {
  cpu_usage_seconds_total: counter('CPU time that QEMU has used.', ({ cpu }) => cpu.user + cpu.system),
  cpu_user_usage_seconds_total: counter('Of it, outside the kernel.', ({ cpu }) => cpu.user),
  cpu_system_usage_seconds_total: counter('Of it, in the kernel.', ({ cpu }) => cpu.system),
  vcpu_seconds_total: ofVcpus('CPU time that a virtual CPU has used.', ({ used }) => used, 'running'),
  vcpu_wait_seconds_total: ofVcpus('Time that a virtual CPU has waited for disks.', ({ blocked }) => blocked),
  vcpu_delay_seconds_total: ofVcpus(
    'Time that a virtual CPU has waited for a CPU.',
    ({ delayed }) => delayed,
  ),
  memory_domain_bytes: gauge('Memory of the guest by its spec.', ({ memory }) => memory.domain),
  memory_resident_bytes: gauge('Memory of QEMU that is in RAM.', ({ memory }) => memory.resident),
  memory_actual_balloon_bytes: gauge('What the balloon leaves to the guest.', ({ memory }) => memory.balloon),
  memory_available_bytes: gauge('All memory that the guest sees.', ({ memory }) => memory.guest?.total),
  memory_unused_bytes: gauge('Memory that the guest has no use for.', ({ memory }) => memory.guest?.free),
  memory_usable_bytes: gauge(
    'Memory that the guest could give to programs without swapping.',
    ({ memory }) => memory.guest?.available,
  ),
  memory_cached_bytes: gauge("Memory of the guest's disk caches.", ({ memory }) => memory.guest?.cached),
  memory_swap_in_traffic_bytes: gauge('Read from swap in the guest.', ({ memory }) => memory.guest?.swapIn),
  memory_swap_out_traffic_bytes: gauge(
    'Written to swap in the guest.',
    ({ memory }) => memory.guest?.swapOut,
  ),
  memory_pgmajfault_total: counter(
    'Page faults in the guest that needed a disk.',
    ({ memory }) => memory.guest?.majorFaults,
  ),
  memory_pgminfault_total: counter(
    'Other page faults in the guest.',
    ({ memory }) => memory.guest?.minorFaults,
  ),
  storage_iops_read_total: ofDisks('Reads of a disk.', ({ read }) => read.operations),
  storage_iops_write_total: ofDisks('Writes to a disk.', ({ write }) => write.operations),
  storage_read_traffic_bytes_total: ofDisks('Read from a disk.', ({ read }) => read.bytes),
  storage_write_traffic_bytes_total: ofDisks('Written to a disk.', ({ write }) => write.bytes),
  storage_read_times_seconds_total: ofDisks('Time that reads took, in all.', ({ read }) => read.time),
  storage_write_times_seconds_total: ofDisks('Time that writes took, in all.', ({ write }) => write.time),
  storage_flush_requests_total: ofDisks('Flushes of a disk.', ({ flush }) => flush.operations),
  storage_flush_times_seconds_total: ofDisks('Time that flushes took, in all.', ({ flush }) => flush.time),
  network_receive_bytes_total: ofInterfaces('Received by the guest.', ({ receive }) => receive.bytes),
  network_receive_packets_total: ofInterfaces('Packets received.', ({ receive }) => receive.packets),
  network_receive_errors_total: ofInterfaces('Errors in receiving.', ({ receive }) => receive.errors),
  network_receive_packets_dropped_total: ofInterfaces(
    'Dropped on the way in.',
    ({ receive }) => receive.dropped,
  ),
  network_transmit_bytes_total: ofInterfaces('Sent by the guest.', ({ transmit }) => transmit.bytes),
  network_transmit_packets_total: ofInterfaces('Packets sent.', ({ transmit }) => transmit.packets),
  network_transmit_errors_total: ofInterfaces('Errors in sending.', ({ transmit }) => transmit.errors),
  network_transmit_packets_dropped_total: ofInterfaces(
    'Dropped on the way out.',
    ({ transmit }) => transmit.dropped,
  ),
  filesystem_capacity_bytes: ofFileSystems("Size of a guest's file system.", ({ capacity }) => capacity),
  filesystem_used_bytes: ofFileSystems("Used in a guest's file system.", ({ used }) => used),
};

export function registerGuestStatistics(registry: Registry, measure: MeasureMachines): void {
  for (const [name, family] of Object.entries(families)) register(registry, name, family, measure);
}

function register(registry: Registry, name: string, family: Family, measure: MeasureMachines): void {
  const options = {
    name: `kubevirt_vmi_${name}`,
    help: family.help,
    labelNames: [...machineLabels, ...(family.labels ?? [])],
    registers: [registry],
  };
  const each = async (set: (labels: Record<string, string>, value: number) => void): Promise<void> => {
    for (const machine of await measure()) {
      const { namespace, name: machineName, node } = machine;
      for (const { labels, value } of family.samples(machine))
        if (value !== undefined) set({ node, namespace, name: machineName, ...labels }, value);
    }
  };
  if (family.type === 'gauge') {
    new Gauge({
      ...options,
      async collect() {
        this.reset();
        await each((labels, value) => this.set(labels, value));
      },
    });
    return;
  }
  new Counter({
    ...options,
    // The count is kept elsewhere: here it is only shown.
    async collect() {
      this.reset();
      await each((labels, value) => this.inc(labels, value));
    },
  });
}
