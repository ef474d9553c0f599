/** The volume that is made for a claim, and how the two fit together. Pure. */
import { compareQuantities, isQuantity } from '../../openapi/quantity.js';
import { compileLabelSelector } from '../../openapi/selectors.js';
import type { PersistentVolume, PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type { StorageClass } from '../../openapi/generated/types/storage_v1.js';
import type { New } from '../../openapi/meta.js';
import { provisioner } from './storage-class.js';

export function volumeNameFor({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata.uid}`;
}

export function volumeFor(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  path: string,
): New<PersistentVolume> {
  const { spec } = claim;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeNameFor(claim),
      annotations: { 'pv.kubernetes.io/provisioned-by': provisioner },
    },
    spec: {
      accessModes: spec?.accessModes ?? ['ReadWriteOnce'],
      capacity: { storage: spec?.resources?.requests?.storage ?? '0' },
      claimRef: claimReference(claim),
      hostPath: { path, type: 'Directory' },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: 'Filesystem',
    },
  };
}

export function claimReference({ metadata }: PersistentVolumeClaim): {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
} {
  const { namespace = '', name, uid } = metadata;
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
}

/** The volume is reserved for this claim: by UID, or by name if an administrator has written no UID. */
export function isReservedFor(volume: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = volume.spec?.claimRef;
  return (
    reference?.namespace === metadata.namespace &&
    reference?.name === metadata.name &&
    (reference.uid === undefined || reference.uid === metadata.uid)
  );
}

/** The smallest volume that an administrator has made and that fits the claim. */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const reserved = volumes.find((volume) => isReservedFor(volume, claim));
  if (reserved !== undefined) return reserved;
  return volumes
    .filter((volume) => fits(volume, claim))
    .sort((a, b) => compareQuantities(sizeOf(a), sizeOf(b)))[0];
}

/** A volume that does not say how large it is holds nothing. */
const sizeOf = ({ spec }: PersistentVolume): string | number => {
  const size = spec?.capacity?.storage ?? 0;
  return isQuantity(size) ? size : 0;
};

function fits(volume: PersistentVolume, { spec, metadata }: PersistentVolumeClaim): boolean {
  const wanted = spec?.volumeName;
  return (
    metadata.deletionTimestamp === undefined &&
    volume.metadata.deletionTimestamp === undefined &&
    volume.spec?.claimRef === undefined &&
    (wanted === undefined || wanted === '' || wanted === volume.metadata.name) &&
    (volume.spec?.storageClassName ?? '') === (spec?.storageClassName ?? '') &&
    (volume.spec?.volumeMode ?? 'Filesystem') === (spec?.volumeMode ?? 'Filesystem') &&
    (spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode) === true) &&
    compareQuantities(sizeOf(volume), spec?.resources?.requests?.storage ?? 0) >= 0 &&
    // An invalid selector fails this claim only.
    (spec?.selector === undefined || compileLabelSelector(spec.selector).matches(volume.metadata.labels))
  );
}
