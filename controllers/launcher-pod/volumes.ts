/**
 * Pod volumes of a VMI's volumes. Each has the VMI volume's name, and is what the launcher finds at
 * `volumes/<name>`. Secrets of access credentials have names of
 * their own. Container disks come from containers, empty disks and inline cloud-init are the launcher's own.
 */
import { dirname } from 'node:path/posix';
import type { Volume as PodVolume } from '../../openapi/generated/types/core_v1.js';
import type {
  CloudInitConfigDriveSource,
  CloudInitNoCloudSource,
  HostDisk,
  VirtualMachineInstance,
  Volume,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { accessCredentialVolumes } from './access-credentials.js';
import { persistentStateVolumes } from './persistent-state.js';

export function podVolumes(vmi: VirtualMachineInstance): PodVolume[] {
  const volumes = (vmi.spec.volumes ?? []).flatMap((volume) => {
    const source = sourceOf(volume);
    return source === undefined ? [] : [{ name: volume.name, ...source }];
  });
  return [...volumes, ...persistentStateVolumes(vmi), ...accessCredentialVolumes(vmi)];
}

type Source = Omit<PodVolume, 'name'>;

function sourceOf(volume: Volume): Source | undefined {
  const { secret, configMap, downwardAPI, serviceAccount, sysprep, hostDisk } = volume;
  const cloudInit = volume.cloudInitNoCloud ?? volume.cloudInitConfigDrive;
  const claim = claimSource(volume);
  if (claim !== undefined) return claim;
  if (cloudInit !== undefined) return cloudInitSource(cloudInit);
  if (secret !== undefined) {
    const { secretName, optional } = secret;
    return { secret: { ...given({ secretName }), ...given({ optional }) } };
  }
  if (configMap !== undefined) {
    const { name, optional } = configMap;
    return { configMap: { ...given({ name }), ...given({ optional }) } };
  }
  if (sysprep?.secret !== undefined) return { secret: given({ secretName: sysprep.secret.name }) };
  if (sysprep?.configMap !== undefined) return { configMap: given({ name: sysprep.configMap.name }) };
  if (downwardAPI !== undefined) return { downwardAPI: { items: downwardAPI.fields ?? [] } };
  if (serviceAccount !== undefined) return serviceAccountSource;
  return hostDisk === undefined ? undefined : hostDiskSource(hostDisk);
}

/** A data volume's claim has the data volume's name. */
function claimSource({
  persistentVolumeClaim,
  dataVolume,
  ephemeral,
  memoryDump,
}: Volume): Source | undefined {
  const claim = persistentVolumeClaim ?? memoryDump;
  if (claim !== undefined) {
    const { claimName, readOnly } = claim;
    return { persistentVolumeClaim: { claimName, ...given({ readOnly }) } };
  }
  if (dataVolume !== undefined) return { persistentVolumeClaim: { claimName: dataVolume.name } };
  if (ephemeral?.persistentVolumeClaim !== undefined)
    // Its guest writes to an overlay.
    return { persistentVolumeClaim: { ...ephemeral.persistentVolumeClaim, readOnly: true } };
  return undefined;
}

/** User data and network data may come from two secrets. */
function cloudInitSource({
  secretRef,
  networkDataSecretRef,
}: CloudInitNoCloudSource | CloudInitConfigDriveSource): Source | undefined {
  const names = [secretRef?.name, networkDataSecretRef?.name].filter((name) => name !== undefined);
  const [first, second] = names;
  if (first === undefined) return undefined;
  if (second === undefined || second === first) return { secret: { secretName: first } };
  return { projected: { sources: [first, second].map((name) => ({ secret: { name } })) } };
}

const serviceAccountSource: Source = {
  projected: {
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  },
};

function hostDiskSource({ path, type }: HostDisk): Source {
  return {
    hostPath: { path: dirname(path), type: type === 'DiskOrCreate' ? 'DirectoryOrCreate' : 'Directory' },
  };
}

/** The fields that are set. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
