import type { KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';

/** What a cluster's configuration is where its KubeVirt object says nothing. */
export const defaultConfiguration: KubeVirtConfiguration = {
  apiConfiguration: {
    restClient: {
      rateLimiter: {
        tokenBucketRateLimiter: {
          burst: 400,
          qps: 200,
        },
      },
    },
  },
  architectureConfiguration: {
    amd64: {
      emulatedMachines: ['q35*', 'pc-q35*'],
      machineType: 'q35',
      ovmfPath: '/usr/share/edk2/ovmf',
    },
    arm64: {
      emulatedMachines: ['virt*'],
      machineType: 'virt',
      ovmfPath: '/usr/share/AAVMF',
    },
    defaultArchitecture: 'amd64',
    s390x: {
      emulatedMachines: ['s390-ccw-virtio*'],
      machineType: 's390-ccw-virtio',
    },
  },
  controllerConfiguration: {
    restClient: {
      rateLimiter: {
        tokenBucketRateLimiter: {
          burst: 400,
          qps: 200,
        },
      },
    },
  },
  cpuRequest: '100m',
  developerConfiguration: {
    cpuAllocationRatio: 10,
    diskVerification: {
      memoryLimit: '2000Mi',
    },
    logVerbosity: {
      virtAPI: 2,
      virtController: 2,
      virtHandler: 2,
      virtLauncher: 2,
      virtOperator: 2,
    },
    memoryOvercommit: 100,
    minimumReservePVCBytes: 131072,
    pvcTolerateLessSpaceUpToPercent: 10,
  },
  evictionStrategy: 'None',
  handlerConfiguration: {
    restClient: {
      rateLimiter: {
        tokenBucketRateLimiter: {
          burst: 100,
          qps: 50,
        },
      },
    },
  },
  hypervisors: [
    {
      name: 'kvm',
    },
  ],
  imagePullPolicy: 'IfNotPresent',
  liveUpdateConfiguration: {
    maxHotplugRatio: 4,
  },
  memBalloonStatsPeriod: 10,
  migrations: {
    allowAutoConverge: false,
    allowPostCopy: false,
    bandwidthPerMigration: '0',
    completionTimeoutPerGiB: 150,
    maxDowntimeMs: 900,
    nodeDrainTaintKey: 'kubevirt.io/drain',
    parallelMigrationsPerCluster: 5,
    parallelOutboundMigrationsPerNode: 2,
    progressTimeout: 150,
    unsafeMigrationOverride: false,
    utilityVolumesTimeout: 150,
  },
  network: {
    defaultNetworkInterface: 'bridge',
    permitBridgeInterfaceOnPodNetwork: true,
    permitSlirpInterface: false,
  },
  smbios: {
    family: 'KubeVirt',
    manufacturer: 'KubeVirt',
    product: 'None',
  },
  supportedGuestAgentVersions: ['2.*', '3.*', '4.*', '5.*'],
  vmRolloutStrategy: 'LiveUpdate',
  webhookConfiguration: {
    restClient: {
      rateLimiter: {
        tokenBucketRateLimiter: {
          burst: 400,
          qps: 200,
        },
      },
    },
  },
};
