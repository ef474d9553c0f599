/** What dashboards show of machines, under KubeVirt's published names. Read from the informers when somebody asks. */
import { Gauge, type Registry } from 'prom-client';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Informer } from '../runtime/informer.js';
import { registerTransitionTimes } from './transition-times.js';

const infoLabels = [
  'node',
  'namespace',
  'name',
  'phase',
  'os',
  'workload',
  'flavor',
  'instance_type',
  'preference',
  'guest_os_kernel_release',
  'guest_os_machine',
  'guest_os_name',
  'guest_os_version_id',
] as const;

/** `kubevirt_vm_<group>_status_last_transition_timestamp_seconds`, by the VM's printable status. */
const statusGroups = {
  running: ['Running'],
  starting: ['Provisioning', 'Starting', 'WaitingForVolumeBinding'],
  migrating: ['Migrating', 'WaitingForReceiver'],
  error: [
    'CrashLoopBackOff',
    'Unknown',
    'ErrorUnschedulable',
    'ErrImagePull',
    'ImagePullBackOff',
    'ErrorPvcNotFound',
    'DataVolumeError',
  ],
  non_running: ['Stopped', 'Paused', 'Stopping', 'Terminating'],
} as const;

export interface MachineMetricsSources {
  readonly machines: Informer<VirtualMachine>;
  readonly instances: Informer<VirtualMachineInstance>;
}

export function registerMachineMetrics(
  registry: Registry,
  { machines, instances }: MachineMetricsSources,
): void {
  const registers = [registry];
  new Gauge({
    name: 'kubevirt_vmi_info',
    help: 'Instances, with what is worth grouping them by. Always 1.',
    labelNames: infoLabels,
    registers,
    collect() {
      this.reset();
      for (const instance of instances.list()) this.set(infoOf(instance), 1);
    },
  });
  new Gauge({
    name: 'kubevirt_vmi_phase_count',
    help: 'Instances of a node in a phase.',
    labelNames: ['node', 'phase'],
    registers,
    collect() {
      this.reset();
      for (const { status } of instances.list())
        this.inc({ node: status?.nodeName ?? '', phase: status?.phase?.toLowerCase() ?? '' });
    },
  });
  new Gauge({
    name: 'kubevirt_number_of_vms',
    help: 'Machines in a namespace.',
    labelNames: ['namespace'],
    registers,
    collect() {
      this.reset();
      for (const { metadata } of machines.list()) this.inc({ namespace: metadata.namespace ?? '' });
    },
  });
  for (const [group, statuses] of Object.entries(statusGroups)) {
    new Gauge({
      name: `kubevirt_vm_${group}_status_last_transition_timestamp_seconds`,
      help: `When a machine whose status is one of ${statuses.join(', ')} came to be so. Seconds since 1970.`,
      labelNames: ['name', 'namespace'],
      registers,
      collect() {
        this.reset();
        for (const { metadata, status } of machines.list()) {
          if (!statuses.some((each) => each === status?.printableStatus)) continue;
          this.set({ name: metadata.name, namespace: metadata.namespace ?? '' }, lastTransition(status));
        }
      },
    });
  }
  registerTransitionTimes(registry, instances);
}

function infoOf({ metadata, status }: VirtualMachineInstance): Record<(typeof infoLabels)[number], string> {
  const annotations = metadata.annotations ?? {};
  const first = (...keys: readonly string[]): string =>
    keys.map((key) => annotations[key]).find((value) => value !== undefined) ?? '<none>';
  const guest = status?.guestOSInfo;
  return {
    node: status?.nodeName ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    phase: status?.phase?.toLowerCase() ?? '',
    os: first('vm.kubevirt.io/os'),
    workload: first('vm.kubevirt.io/workload'),
    flavor: first('vm.kubevirt.io/flavor'),
    instance_type: first('kubevirt.io/instancetype-name', 'kubevirt.io/cluster-instancetype-name'),
    preference: first('kubevirt.io/preference-name', 'kubevirt.io/cluster-preference-name'),
    guest_os_kernel_release: guest?.kernelRelease ?? '',
    guest_os_machine: guest?.machine ?? '',
    guest_os_name: guest?.name ?? '',
    guest_os_version_id: guest?.versionId ?? '',
  };
}

/** Of whichever condition changed last; a status without conditions is as old as it can be. */
function lastTransition(status: VirtualMachine['status']): number {
  const times = (status?.conditions ?? []).map(({ lastTransitionTime }) =>
    Date.parse(lastTransitionTime ?? ''),
  );
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time))) / 1000;
}
