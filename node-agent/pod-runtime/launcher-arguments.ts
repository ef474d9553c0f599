/** Whose launcher a pod is, as the launcher's arguments say it. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';

export interface LauncherArguments {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Annotation of launcher pods: the VMI's name. */
const domainAnnotation = 'kubevirt.io/domain';

export function launcherArguments({ metadata }: Pod): LauncherArguments {
  const { name, namespace = '', uid, annotations, ownerReferences } = metadata;
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  return {
    name: annotations?.[domainAnnotation] ?? owner?.name ?? name,
    namespace,
    uid: owner?.uid ?? uid,
  };
}
