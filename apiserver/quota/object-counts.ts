/** Object counts of a ResourceQuota: `count/<resource>.<group>`. */
import type { ResourceQuota } from '../../openapi/generated/types/core_v1.js';
import { addQuantities, compareQuantities } from '../../openapi/quantity.js';

export function countName(group: string, resource: string): string {
  return `count/${resource}${group === '' ? '' : `.${group}`}`;
}

/** Scopes select pods and claims: a quota that has some counts no other objects. */
export function limits({ spec, status }: ResourceQuota, count: string): boolean {
  if ((spec?.scopes ?? []).length > 0 || (spec?.scopeSelector?.matchExpressions ?? []).length > 0)
    return false;
  return Object.hasOwn(status?.hard ?? {}, count);
}

/** Why the quota takes no further object; undefined if it does. It must limit the count. */
export function refusalOf({ metadata, status }: ResourceQuota, count: string): string | undefined {
  const hard = status?.hard?.[count];
  const used = status?.used?.[count];
  // The controller has yet to count what is there.
  if (hard === undefined || used === undefined)
    return `status unknown for quota: ${metadata.name}, resources: ${count}`;
  if (compareQuantities(addQuantities(used, 1), hard) <= 0) return undefined;
  return `exceeded quota: ${metadata.name}, requested: ${count}=1, used: ${count}=${used}, limited: ${count}=${hard}`;
}

/** The quota with one more object used. It must take one. */
export function charged(quota: ResourceQuota, count: string): ResourceQuota {
  const { status } = quota;
  const used = addQuantities(status?.used?.[count] ?? 0, 1);
  return { ...quota, status: { ...status, used: { ...status?.used, [count]: used } } };
}
