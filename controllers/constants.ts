/** KubeVirt's names: labels, annotations, finalizers, condition types and reasons that others look for. */

export const labels = {
  app: 'kubevirt.io',
  createdBy: 'kubevirt.io/created-by',
  nodeName: 'kubevirt.io/nodeName',
  /** On a VMI whose launcher is of another version than new ones are. */
  outdatedLauncherImage: 'kubevirt.io/outdatedLauncherImage',
  /** The state of its pool that a VM, or the instance of one, was made from. */
  poolRevision: 'kubevirt.io/vm-pool-revision-name',
  schedulable: 'kubevirt.io/schedulable',
  virtualMachineInstanceId: 'vmi.kubevirt.io/id',
  virtualMachineName: 'vm.kubevirt.io/name',
} as const;

/** Value of the app label on launcher pods. */
export const launcherApp = 'virt-launcher';

export const annotations = {
  domain: 'kubevirt.io/domain',
  /** On a migration that empties a node: the node's name. */
  evacuationMigration: 'kubevirt.io/evacuationMigration',
  /** `true` on a VMI, or on the KubeVirt object for all: fail it as soon as its node is fenced. */
  fastFailover: 'nativirt.io/fast-failover',
  /** On nodes: when their agent reported last. */
  heartbeat: 'kubevirt.io/heartbeat',
  /** On launcher pods: bytes of memory beside the guest's. */
  memoryOverhead: 'kubevirt.io/memory-overhead-bytes',
  virtualMachineGeneration: 'kubevirt.io/vm-generation',
  /** On VMs of pools: digest of the data volume templates that their disks were made from. */
  poolDisksDigest: 'nativirt.io/pool-disks-digest',
  /** Digest of the template that a VMI was made from: tells whether the VM has changed since. */
  templateDigest: 'nativirt.io/template-digest',
} as const;

export const finalizers = {
  virtualMachine: 'kubevirt.io/virtualMachineControllerFinalize',
  virtualMachineInstance: 'kubevirt.io/foregroundDeleteVirtualMachine',
  virtualMachinePool: 'pool.kubevirt.io/finalizer',
  deprecatedVirtualMachineInstance: 'foregroundDeleteVirtualMachine',
  orphan: 'orphan',
  foreground: 'foregroundDeletion',
  claimProtection: 'kubernetes.io/pvc-protection',
} as const;

export const conditionTypes = {
  ready: 'Ready',
  evictionRequested: 'EvictionRequested',
  failure: 'Failure',
  liveMigratable: 'LiveMigratable',
  paused: 'Paused',
  restartRequired: 'RestartRequired',
  synchronized: 'Synchronized',
  podScheduled: 'PodScheduled',
  provisioning: 'Provisioning',
} as const;

export const reasons = {
  guestNotRunning: 'GuestNotRunning',
  podTerminating: 'PodTerminating',
  podNotExists: 'PodNotExists',
  podFailed: 'PodFailed',
  instanceNotExists: 'VMINotExists',
  failedCreate: 'FailedCreate',
  failedDelete: 'FailedDelete',
  failedUpdate: 'FailedUpdate',
  failedFindInstancetype: 'FailedFindInstancetype',
  failedFindPreference: 'FailedFindPreference',
  successfulCreate: 'SuccessfulCreate',
  successfulDelete: 'SuccessfulDelete',
  successfulUpdate: 'SuccessfulUpdate',
  claimNotFound: 'FailedPvcNotFound',
  hotplugVolumeError: 'HotPlugVolumeError',
  evictionRequested: 'EvictionRequested',
  errImagePull: 'ErrImagePull',
  imagePullBackOff: 'ImagePullBackOff',
  unschedulable: 'Unschedulable',
  nodeUnresponsive: 'NodeUnresponsive',
} as const;

/** Readiness of an instance that has not started. VM and VMI use the same words, so that starting costs no extra write. */
export const guestNotRunning = {
  type: conditionTypes.ready,
  status: 'False',
  reason: reasons.guestNotRunning,
  message: 'the guest is not running',
} as const;

export const phases = {
  pending: 'Pending',
  scheduling: 'Scheduling',
  scheduled: 'Scheduled',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  unknown: 'Unknown',
} as const;

export const runStrategies = [
  'Always',
  'Halted',
  'Manual',
  'RerunOnFailure',
  'Once',
  'WaitAsReceiver',
] as const;
export type RunStrategy = (typeof runStrategies)[number];

export const printableStatuses = [
  'Stopped',
  'Provisioning',
  'Starting',
  'Running',
  'Paused',
  'Stopping',
  'Terminating',
  'CrashLoopBackOff',
  'Migrating',
  'Unknown',
  'ErrorUnschedulable',
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrorPvcNotFound',
  'DataVolumeError',
  'WaitingForVolumeBinding',
  'WaitingForReceiver',
] as const;
export type PrintableStatus = (typeof printableStatuses)[number];
