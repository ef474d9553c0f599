import type { PersistentVolume } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { age, column, defineCoreResource, versions } from './define.js';
import { accessModes } from './volume-columns.js';

/** The registry gives a kind's functions objects of that kind only. */
const asVolume = (object: KubernetesObject): PersistentVolume => object;

function claim({ spec }: PersistentVolume): string {
  const reference = spec?.claimRef;
  return reference === undefined ? '' : `${reference.namespace ?? ''}/${reference.name ?? ''}`;
}

export const persistentVolumes = defineCoreResource({
  group: '',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  versions: versions('io.k8s.api.core.v1.PersistentVolume', 'v1'),
  status: true,
  columns: [
    column(
      'Capacity',
      { description: 'Size of the volume.' },
      ({ spec }: PersistentVolume) => spec?.capacity?.['storage'] ?? '',
    ),
    column('Access Modes', { description: 'How it can be mounted.' }, ({ spec }: PersistentVolume) =>
      accessModes(spec?.accessModes),
    ),
    column(
      'Reclaim Policy',
      { description: 'What becomes of it when its claim is gone.' },
      ({ spec }: PersistentVolume) => spec?.persistentVolumeReclaimPolicy,
    ),
    column('Status', { description: 'Whether it is bound.' }, ({ metadata, status }: PersistentVolume) =>
      metadata.deletionTimestamp === undefined ? status?.phase : 'Terminating',
    ),
    column('Claim', { description: 'The claim that it is bound to.' }, claim),
    column(
      'StorageClass',
      { description: 'Class that it belongs to.' },
      ({ spec }: PersistentVolume) => spec?.storageClassName ?? '',
    ),
    column(
      'Reason',
      { description: 'Why it is in that state.' },
      ({ status }: PersistentVolume) => status?.reason ?? '',
    ),
    age,
    column(
      'VolumeMode',
      { description: 'Whether it is a file system or a block device.', wide: true },
      ({ spec }: PersistentVolume) => spec?.volumeMode ?? '<unset>',
    ),
  ],
  strategy: {
    returnsDeletedObject: true,
    prepareForCreate(object) {
      const volume = asVolume(object);
      if (volume.spec !== undefined) {
        volume.spec.persistentVolumeReclaimPolicy ??= 'Retain';
        volume.spec.volumeMode ??= 'Filesystem';
      }
      volume.status = { phase: 'Pending' };
    },
  },
});
