/**
 * The feature gates. Alpha ones are off and Beta ones on unless the configuration says otherwise; GA ones are always on; Deprecated ones
 * may still be switched on; Discontinued ones are gone and naming them has no effect.
 */
import type { KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';

export type FeatureGateState = 'Alpha' | 'Beta' | 'GA' | 'Deprecated' | 'Discontinued';

export const featureGates = {
  AlignCPUs: 'Alpha',
  AutoResourceLimitsGate: 'GA',
  BochsDisplayForEFIGuests: 'GA',
  CPUManager: 'Alpha',
  CPUNodeDiscovery: 'GA',
  ClusterProfiler: 'GA',
  CommonInstancetypesDeploymentGate: 'GA',
  ConfigurableHypervisor: 'Alpha',
  ContainerPathVolumes: 'Alpha',
  CrossArchitectureVirtualization: 'Alpha',
  DecentralizedLiveMigration: 'Beta',
  DeclarativeHotplugVolumes: 'Beta',
  DisableCustomSELinuxPolicy: 'GA',
  DisableMDEVConfiguration: 'Deprecated',
  DockerSELinuxMCSWorkaround: 'Deprecated',
  DownwardMetrics: 'Alpha',
  DynamicPodInterfaceNaming: 'GA',
  EnableVirtioFsConfigVolumes: 'GA',
  EnableVirtioFsStorageVolumes: 'Alpha',
  ExpandDisks: 'GA',
  ExperimentalIgnitionSupport: 'Alpha',
  ExperimentalVirtiofsSupport: 'Discontinued',
  ExternalNetResourceInjection: 'Beta',
  FirmwareAutoSelection: 'Alpha',
  GPU: 'GA',
  GPUsWithDRA: 'Beta',
  GraceIOVirtualization: 'Alpha',
  HostDevices: 'Alpha',
  HostDevicesWithDRA: 'Beta',
  HostDisk: 'Alpha',
  HotplugNICs: 'GA',
  HotplugVolumes: 'Deprecated',
  HypervStrictCheck: 'Alpha',
  IOMMUFD: 'Alpha',
  ImageVolume: 'Beta',
  IncrementalBackup: 'Alpha',
  InstancetypeReferencePolicy: 'GA',
  KubevirtSeccompProfile: 'Beta',
  LibvirtHooksServerAndClient: 'GA',
  LiveMigration: 'GA',
  LiveUpdateNADRef: 'GA',
  Macvtap: 'Discontinued',
  MigrationDowntimeTuning: 'Alpha',
  MigrationPriorityQueue: 'GA',
  MigrationStallDetection: 'Alpha',
  MultiArchitecture: 'Deprecated',
  NUMA: 'GA',
  NetworkBindingPlugins: 'GA',
  NetworkDevicesWithDRA: 'Alpha',
  NodeRestriction: 'Beta',
  NonRoot: 'GA',
  OCIExport: 'Alpha',
  ObjectGraph: 'Alpha',
  OptOutRoleAggregation: 'Beta',
  PCINUMAAwareTopology: 'Alpha',
  PSA: 'GA',
  PanicDevices: 'GA',
  Passt: 'Discontinued',
  PasstBinding: 'Beta',
  PasstIPStackMigration: 'Discontinued',
  PersistentReservation: 'GA',
  Plugins: 'Alpha',
  PodSecondaryInterfaceNamingUpgrade: 'Beta',
  PortRangesSpec: 'Alpha',
  RebootPolicy: 'Beta',
  ReservedOverheadMemlock: 'Alpha',
  Root: 'Alpha',
  SRIOVLiveMigration: 'GA',
  SecureExecution: 'GA',
  Sidecar: 'Alpha',
  Snapshot: 'Beta',
  Template: 'Beta',
  UtilityVolumes: 'Alpha',
  VGPULiveMigration: 'Alpha',
  VMExport: 'GA',
  VMLiveUpdateFeatures: 'GA',
  VMPersistentState: 'GA',
  VMStatsCollector: 'Alpha',
  VSOCK: 'Alpha',
  VideoConfig: 'GA',
  VmiMemoryOverheadReport: 'GA',
  VolumeMigration: 'GA',
  VolumesUpdateStrategy: 'GA',
  WorkloadEncryptionSEV: 'Beta',
  WorkloadEncryptionTDX: 'Alpha',
} as const satisfies Readonly<Record<string, FeatureGateState>>;

export type FeatureGate = keyof typeof featureGates;

/** Whether a gate is on, as of this configuration. Switching it on counts more than switching it off. */
export function featureEnabled(configuration: KubeVirtConfiguration, gate: FeatureGate): boolean {
  const developer = configuration.developerConfiguration;
  switch (featureGates[gate]) {
    case 'GA':
      return true;
    case 'Discontinued':
      return false;
    case 'Beta':
      return (
        developer?.featureGates?.includes(gate) === true ||
        developer?.disabledFeatureGates?.includes(gate) !== true
      );
    case 'Alpha':
    case 'Deprecated':
      return developer?.featureGates?.includes(gate) ?? false;
  }
}
