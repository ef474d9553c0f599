/** Which claims the volumes of a VM use. */
import type { PersistentVolumeClaim } from '../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstanceSpec } from '../openapi/generated/types/kubevirt_v1.js';
import type { Informer } from './runtime/informer.js';

export interface ClaimUse {
  readonly volume: string;
  readonly claim: string;
}

/** A data volume's claim has the data volume's name. */
export function claimsOf(spec: VirtualMachineInstanceSpec | undefined): ClaimUse[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, dataVolume, ephemeral }) => {
    const claim =
      persistentVolumeClaim?.claimName ?? dataVolume?.name ?? ephemeral?.persistentVolumeClaim?.claimName;
    return claim === undefined ? [] : [{ volume: name, claim }];
  });
}

/** Index values: `namespace/claim`. */
export function claimKeys(
  namespace: string | undefined,
  spec: VirtualMachineInstanceSpec | undefined,
): string[] {
  return claimsOf(spec).map(({ claim }) => `${namespace ?? ''}/${claim}`);
}

export const claimIndex = 'claim';

export function findClaims(
  informer: Informer<PersistentVolumeClaim>,
  namespace: string | undefined,
  spec: VirtualMachineInstanceSpec | undefined,
): (ClaimUse & { readonly object: PersistentVolumeClaim | undefined })[] {
  return claimsOf(spec).map((use) => ({
    ...use,
    object: informer.get({ namespace, name: use.claim }),
  }));
}
