/** Keys of objects in caches and queues: `namespace/name`, or `name` for cluster-scoped kinds. */
import type { ObjectKey } from './client.js';

export function keyOf(key: ObjectKey): string {
  return key.namespace === undefined || key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;
}

export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether `a` is an older state of one object than `b`. Versions that are not decimal numbers only compare equal. */
export function isOlder(a: string, b: string): boolean {
  const decimal = /^\d+$/;
  if (!decimal.test(a) || !decimal.test(b)) return a !== b;
  return a.length === b.length ? a < b : a.length < b.length;
}
