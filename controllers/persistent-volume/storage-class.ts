/** Standalone's storage class, and which class a claim asks for. */
import type { PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type { StorageClass } from '../../openapi/generated/types/storage_v1.js';
import type { New } from '../../openapi/meta.js';

export const provisioner = 'nativirt.io/directory';
const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** Made when a standalone control plane is started for the first time. */
export const standardStorageClass: New<StorageClass> = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { [defaultClassAnnotation]: 'true' } },
  provisioner,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
};

/** Undefined: the claim wants no class ('' in its spec), or there is none such. */
export function classOf(
  { spec }: PersistentVolumeClaim,
  classes: readonly StorageClass[],
): StorageClass | undefined {
  const name = spec?.storageClassName;
  if (name === '') return undefined;
  if (name !== undefined) return classes.find(({ metadata }) => metadata.name === name);
  return classes.find(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === 'true');
}
