import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
} from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { sameJson } from '../registry/equal.js';
import { forbiddenValue } from '../registry/metadata-rules.js';
import { age, column, defineCoreResource, versions } from './define.js';
import { accessModes } from './volume-columns.js';

/** The registry gives a kind's functions objects of that kind only. */
const asClaim = (object: KubernetesObject): PersistentVolumeClaim => object;

function phase({ metadata, status }: PersistentVolumeClaim): string | undefined {
  return metadata.deletionTimestamp === undefined ? status?.phase : 'Terminating';
}

/** The part of a claim that no update may change: its volume is set once, its size may grow. */
function fixed(
  spec: PersistentVolumeClaimSpec | undefined,
  old: PersistentVolumeClaimSpec | undefined,
): unknown {
  const unbound = old?.volumeName === undefined || old.volumeName === '';
  return {
    ...spec,
    resources: undefined,
    volumeAttributesClassName: undefined,
    ...(unbound ? { volumeName: undefined } : {}),
    // A claim without a class may be given one.
    ...(old?.storageClassName === undefined ? { storageClassName: undefined } : {}),
  };
}

function validateUpdate({ spec }: PersistentVolumeClaim, old: PersistentVolumeClaim): readonly StatusCause[] {
  if (sameJson(fixed(spec, old.spec), fixed(old.spec, old.spec))) return [];
  return [
    forbiddenValue(
      'spec',
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    ),
  ];
}

export const persistentVolumeClaims = defineCoreResource({
  group: '',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  versions: versions('io.k8s.api.core.v1.PersistentVolumeClaim', 'v1'),
  status: true,
  columns: [
    column('Status', { description: 'Pending, Bound or Lost.' }, phase),
    column(
      'Volume',
      { description: 'The volume that it is bound to.' },
      ({ spec }: PersistentVolumeClaim) => spec?.volumeName ?? '',
    ),
    column(
      'Capacity',
      { description: 'Size of that volume.' },
      ({ status }: PersistentVolumeClaim) => status?.capacity?.['storage'] ?? '',
    ),
    column(
      'Access Modes',
      { description: 'How that volume can be mounted.' },
      ({ status }: PersistentVolumeClaim) => accessModes(status?.accessModes),
    ),
    column(
      'StorageClass',
      { description: 'Class that it asks for.' },
      ({ spec }: PersistentVolumeClaim) => spec?.storageClassName ?? '',
    ),
    age,
    column(
      'VolumeMode',
      { description: 'Whether it is a file system or a block device.', wide: true },
      ({ spec }: PersistentVolumeClaim) => spec?.volumeMode ?? '<unset>',
    ),
  ],
  strategy: {
    returnsDeletedObject: true,
    prepareForCreate(object) {
      const claim = asClaim(object);
      if (claim.spec !== undefined) claim.spec.volumeMode ??= 'Filesystem';
      claim.status = { phase: 'Pending' };
    },
    validate: (object, old) => (old === undefined ? [] : validateUpdate(asClaim(object), asClaim(old))),
  },
});
