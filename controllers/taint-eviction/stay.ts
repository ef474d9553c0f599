/** How long a pod may stay on a node with such taints. Pure. */
import type { Taint, Toleration } from '../../openapi/generated/types/core_v1.js';
import { tolerates } from '../scheduler/filters/taints.js';

export function evictingTaints(taints: readonly Taint[] | undefined): Taint[] {
  return (taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

/**
 * @param taints those whose effect is NoExecute
 * @returns milliseconds, the shortest that any of its tolerations allows; 0 if it does not tolerate them all
 */
export function allowedStay(taints: readonly Taint[], tolerations: readonly Toleration[] = []): number {
  let stay = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const toleration = tolerations.find((each) => tolerates(each, taint));
    if (toleration === undefined) return 0;
    const { tolerationSeconds } = toleration;
    if (tolerationSeconds !== undefined) stay = Math.min(stay, Math.max(0, tolerationSeconds) * 1000);
  }
  return stay;
}
