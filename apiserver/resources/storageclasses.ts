import type { StorageClass } from '../../openapi/generated/types/storage_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { age, column, defineCoreResource, versions } from './define.js';
import { immutableField } from './immutable.js';

const defaultAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** The registry gives a kind's functions objects of that kind only. */
const asClass = (object: KubernetesObject): StorageClass => object as StorageClass;

const fixed = [
  immutableField('parameters', ({ parameters }: StorageClass) => parameters),
  immutableField('provisioner', ({ provisioner }: StorageClass) => provisioner),
  immutableField('reclaimPolicy', ({ reclaimPolicy }: StorageClass) => reclaimPolicy),
  immutableField('volumeBindingMode', ({ volumeBindingMode }: StorageClass) => volumeBindingMode),
];

function name({ metadata }: StorageClass): string {
  return metadata.annotations?.[defaultAnnotation] === 'true' ? `${metadata.name} (default)` : metadata.name;
}

function applyDefaults(storageClass: StorageClass): void {
  storageClass.reclaimPolicy ??= 'Delete';
  storageClass.volumeBindingMode ??= 'Immediate';
}

export const storageClasses = defineCoreResource({
  group: 'storage.k8s.io',
  kind: 'StorageClass',
  plural: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  versions: versions('io.k8s.api.storage.v1.StorageClass', 'v1'),
  columns: [
    column('Name', { description: 'Name of the class, and whether it is the default one.' }, name),
    column(
      'Provisioner',
      { description: 'Who makes its volumes.' },
      ({ provisioner }: StorageClass) => provisioner,
    ),
    column(
      'ReclaimPolicy',
      { description: 'What becomes of a volume when its claim is gone.' },
      ({ reclaimPolicy }: StorageClass) => reclaimPolicy,
    ),
    column(
      'VolumeBindingMode',
      { description: 'When claims are bound.' },
      ({ volumeBindingMode }: StorageClass) => volumeBindingMode,
    ),
    column(
      'AllowVolumeExpansion',
      { type: 'boolean', description: 'Whether claims may grow.' },
      ({ allowVolumeExpansion }: StorageClass) => allowVolumeExpansion ?? false,
    ),
    age,
  ],
  strategy: {
    returnsDeletedObject: true,
    prepareForCreate: (object) => {
      applyDefaults(asClass(object));
    },
    prepareForUpdate: (object) => {
      applyDefaults(asClass(object));
    },
    validate: (object, old) => fixed.flatMap((rule) => rule(object, old)),
  },
});
