/**
 * The order in which keys that wait come out. Each namespace has its turn, so that one with a thousand keys does not keep the others
 * waiting; within a namespace the first comes first. Keys of low priority come when there are no others, and now and then before.
 */

export type Priority = 'normal' | 'low';

/** Of so many keys one is of low priority, if there are any. */
const lowShare = 8;

/** Keys by namespace: `namespace/name`, or `name` for the one without. */
export class Rotation {
  /** The namespace whose turn it is comes first. */
  readonly #namespaces = new Map<string, Set<string>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#namespaces.get(namespaceOf(key))?.has(key) === true;
  }

  /** False: it waits already. */
  add(key: string): boolean {
    const namespace = namespaceOf(key);
    const keys = this.#namespaces.get(namespace);
    if (keys?.has(key) === true) return false;
    if (keys === undefined) this.#namespaces.set(namespace, new Set([key]));
    else keys.add(key);
    this.#size += 1;
    return true;
  }

  delete(key: string): boolean {
    const namespace = namespaceOf(key);
    const keys = this.#namespaces.get(namespace);
    if (keys?.delete(key) !== true) return false;
    if (keys.size === 0) this.#namespaces.delete(namespace);
    this.#size -= 1;
    return true;
  }

  take(): string | undefined {
    for (const [namespace, keys] of this.#namespaces) {
      for (const key of keys) {
        this.delete(key);
        // Its next turn comes after those of all others.
        if (keys.size > 0) {
          this.#namespaces.delete(namespace);
          this.#namespaces.set(namespace, keys);
        }
        return key;
      }
    }
    return undefined;
  }

  clear(): void {
    this.#namespaces.clear();
    this.#size = 0;
  }
}

export class WaitingKeys {
  readonly #normal = new Rotation();
  readonly #low = new Rotation();
  #taken = 0;

  get size(): number {
    return this.#normal.size + this.#low.size;
  }

  /** False: it waits already. One that waits with low priority gets the higher one. */
  add(key: string, priority: Priority): boolean {
    if (priority === 'low') return !this.#normal.has(key) && this.#low.add(key);
    const waited = this.#low.delete(key);
    return this.#normal.add(key) && !waited;
  }

  take(): string | undefined {
    this.#taken = (this.#taken + 1) % lowShare;
    return this.#taken === 0
      ? (this.#low.take() ?? this.#normal.take())
      : (this.#normal.take() ?? this.#low.take());
  }

  clear(): void {
    this.#normal.clear();
    this.#low.clear();
  }
}

function namespaceOf(key: string): string {
  const slash = key.indexOf('/');
  return slash === -1 ? '' : key.slice(0, slash);
}
