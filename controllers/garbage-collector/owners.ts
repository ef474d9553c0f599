/** What has become of an object's owners. */
import type { KubernetesObject, OwnerReference } from '../../openapi/meta.js';
import { finalizers } from '../constants.js';

export interface Owners {
  /** Alive. */
  readonly solid: readonly OwnerReference[];
  /** Gone. */
  readonly dangling: readonly OwnerReference[];
  /** Waits for its dependents to be gone first. */
  readonly waiting: readonly OwnerReference[];
}

export type OwnerState = keyof Owners;

export async function classify(
  references: readonly OwnerReference[],
  stateOf: (reference: OwnerReference) => Promise<OwnerState>,
): Promise<Owners> {
  const owners = { solid: [], dangling: [], waiting: [] } as Record<OwnerState, OwnerReference[]>;
  for (const reference of references) owners[await stateOf(reference)].push(reference);
  return owners;
}

export function isDeletingForeground({ metadata }: KubernetesObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizers.foreground) === true
  );
}

export function isOrphaning({ metadata }: KubernetesObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizers.orphan) === true
  );
}

/** What its finalizers say is to become of its own dependents. */
export function policyOf({ metadata }: KubernetesObject): 'Orphan' | 'Foreground' | 'Background' {
  if (metadata.finalizers?.includes(finalizers.orphan) === true) return 'Orphan';
  return metadata.finalizers?.includes(finalizers.foreground) === true ? 'Foreground' : 'Background';
}

/** The owner may not go before this dependent has gone. */
export function blocks({ metadata }: KubernetesObject, ownerUid: string): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true,
  );
}
