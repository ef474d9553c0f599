/** What a pod asks of a node. */
import { isQuantity, toMillis, toUnits } from '../../openapi/quantity.js';
import type { Pod } from '../../openapi/generated/types/core_v1.js';

/** By resource name: millicores for `cpu`, bytes or whole units for all others. */
export type Amounts = ReadonlyMap<string, number>;

/** What is no quantity counts nothing: one bad pod must not keep all others from being placed. */
export function amountOf(resource: string, quantity: string | number): number {
  if (!isQuantity(quantity)) return 0;
  return resource === 'cpu' ? toMillis(quantity) : toUnits(quantity);
}

export function toAmounts(quantities: Readonly<Record<string, string | number>> | undefined): Amounts {
  return new Map(
    Object.entries(quantities ?? {}).map(([name, quantity]) => [name, amountOf(name, quantity)]),
  );
}

/** Informers share their objects and nobody changes them, so what was added up once holds. */
const known = new WeakMap<Pod, Amounts>();

export function podRequests(pod: Pod): Amounts {
  const before = known.get(pod);
  if (before !== undefined) return before;
  const amounts = addUp(pod);
  known.set(pod, amounts);
  return amounts;
}

/** Containers run side by side; init containers one after another before them. */
function addUp({ spec }: Pod): Amounts {
  const total = new Map<string, number>();
  for (const { resources } of spec?.containers ?? [])
    for (const [name, amount] of toAmounts({ ...resources?.limits, ...resources?.requests }))
      total.set(name, (total.get(name) ?? 0) + amount);
  for (const { resources } of spec?.initContainers ?? [])
    for (const [name, amount] of toAmounts({ ...resources?.limits, ...resources?.requests }))
      total.set(name, Math.max(total.get(name) ?? 0, amount));
  for (const [name, amount] of toAmounts(spec?.overhead)) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}
