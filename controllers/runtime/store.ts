/** The objects of an informer, with indexes over them. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { ObjectKey } from './client.js';
import { keyOf } from './object-key.js';

/** The values under which an index finds an object. */
export type IndexFunction<T> = (object: T) => readonly string[];

export class Store<T extends KubernetesObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, { values: IndexFunction<T>; entries: Map<string, Map<string, T>> }>();

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey | string): T | undefined {
    return this.#objects.get(typeof key === 'string' ? key : keyOf(key));
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new RangeError(`there is no index ${name}`);
    return [...(index.entries.get(value)?.values() ?? [])];
  }

  addIndex(name: string, values: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return;
    const index = { values, entries: new Map<string, Map<string, T>>() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) insert(index.entries, values(object), key, object);
  }

  /** Returns what the key held before. */
  set(object: T): T | undefined {
    const key = keyOf(object.metadata);
    const before = this.delete(key);
    this.#objects.set(key, object);
    for (const { values, entries } of this.#indexes.values()) insert(entries, values(object), key, object);
    return before;
  }

  delete(key: string): T | undefined {
    const before = this.#objects.get(key);
    if (before === undefined) return undefined;
    this.#objects.delete(key);
    for (const { values, entries } of this.#indexes.values()) {
      for (const value of values(before)) {
        const found = entries.get(value);
        found?.delete(key);
        if (found?.size === 0) entries.delete(value);
      }
    }
    return before;
  }
}

function insert<T>(
  entries: Map<string, Map<string, T>>,
  values: readonly string[],
  key: string,
  object: T,
): void {
  for (const value of values) {
    const found = entries.get(value) ?? new Map<string, T>();
    found.set(key, object);
    entries.set(value, found);
  }
}
