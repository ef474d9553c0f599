/** Whether a pod's claims are in a state in which it can be placed. */
import type { PersistentVolumeClaim, Pod } from '../../openapi/generated/types/core_v1.js';
import type { Informer } from '../runtime/informer.js';

export type ClaimsState =
  | { readonly kind: 'ready' }
  /** Being provisioned. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'missing'; readonly message: string };

export function podClaims(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : [persistentVolumeClaim.claimName],
  );
}

export function claimsState(pod: Pod, claims: Informer<PersistentVolumeClaim>): ClaimsState {
  const { namespace } = pod.metadata;
  for (const name of podClaims(pod)) {
    const claim = claims.get({ namespace, name });
    if (claim === undefined) return { kind: 'missing', message: `persistentvolumeclaim "${name}" not found` };
    if (claim.metadata.deletionTimestamp !== undefined)
      return { kind: 'missing', message: `persistentvolumeclaim "${name}" is being deleted` };
    if (claim.status?.phase !== 'Bound') return { kind: 'pending' };
  }
  return { kind: 'ready' };
}
