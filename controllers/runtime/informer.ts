/**
 * A shared, indexed, read-only mirror of one collection.
 *
 * NEVER change an object that an informer hands out: everybody shares it. Copy what you want to change. (The tests'
 * client freezes what it serves, so that a breach fails there.)
 */
import type { KubernetesObject, ObjectMeta } from '../../openapi/meta.js';
import type { Client, Kind, ObjectKey } from './client.js';
import { systemClock, type Clock } from './clock.js';
import type { Logger } from './logger.js';
import { keyOf } from './object-key.js';
import { runReflector, type ReflectorMetrics, type Scope } from './reflector.js';
import { Store, type IndexFunction } from './store.js';

/** Called in the order of the changes, synchronously; do no work in them but enqueue. */
export interface EventHandler<T> {
  add?(object: T): void;
  update?(before: T, after: T): void;
  /** `object` is the last state that was seen; after a gap in the watch that may not have been the very last. */
  delete?(object: T): void;
}

/** What readers of an informer see. */
export interface Informer<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  /** The first list is in, and every handler has seen it. */
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced` turns true. */
  synced(signal: AbortSignal): Promise<void>;
  readonly size: number;
  get(key: ObjectKey | string): T | undefined;
  list(): T[];
  byIndex(index: string, value: string): T[];
  /** Adding a name that exists does nothing. */
  addIndex(name: string, values: IndexFunction<T>): void;
  /** Objects that are there already are added at once. Returns how to remove the handler. */
  addHandler(handler: EventHandler<T>): () => void;
}

export interface InformerOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly scope?: Scope;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Reduces an object before it is kept. Drops managedFields if absent. */
  readonly transform?: (object: T) => T;
  readonly metrics?: ReflectorMetrics | undefined;
}

export const namespaceIndex = 'namespace';
/** By the UID of the controlling owner. */
export const controllerIndex = 'controller';

export class SharedInformer<T extends KubernetesObject> implements Informer<T> {
  readonly kind: Kind<T>;
  readonly #store = new Store<T>();
  readonly #handlers = new Set<EventHandler<T>>();
  readonly #waiting = new Set<() => void>();
  readonly #transform: (object: T) => T;
  #synced = false;

  constructor(private readonly options: InformerOptions<T>) {
    this.kind = options.kind;
    this.#transform = options.transform ?? withoutManagedFields;
    this.#store.addIndex(namespaceIndex, (object) => [object.metadata.namespace ?? '']);
    this.#store.addIndex(controllerIndex, (object) => {
      const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
      return owner === undefined ? [] : [owner.uid];
    });
  }

  get hasSynced(): boolean {
    return this.#synced;
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: ObjectKey | string): T | undefined {
    return this.#store.get(key);
  }

  list(): T[] {
    return this.#store.list();
  }

  byIndex(index: string, value: string): T[] {
    return this.#store.byIndex(index, value);
  }

  addIndex(name: string, values: IndexFunction<T>): void {
    this.#store.addIndex(name, values);
  }

  addHandler(handler: EventHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#store.list()) this.#call(() => handler.add?.(object));
    return () => this.#handlers.delete(handler);
  }

  async synced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#synced) return;
    await new Promise<void>((resolve, reject) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.delete(done);
        reject(signal.reason as Error);
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Mirrors until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, kind, scope, logger, clock = systemClock, random, metrics } = this.options;
    const sink = {
      replace: (objects: readonly T[]): void => {
        this.#replace(objects);
      },
      apply: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void => {
        if (type === 'DELETED') this.#delete(keyOf(object.metadata), object);
        else this.#set(object);
      },
    };
    await runReflector(
      {
        client,
        kind,
        sink,
        transform: this.#transform,
        metrics,
        logger,
        clock,
        ...(scope === undefined ? {} : { scope }),
        ...(random === undefined ? {} : { random }),
      },
      signal,
    );
  }

  #replace(objects: readonly T[]): void {
    const gone = new Set(this.#store.keys());
    for (const object of objects) {
      gone.delete(keyOf(object.metadata));
      this.#set(object);
    }
    for (const key of gone) this.#delete(key, undefined);
    if (this.#synced) return;
    this.#synced = true;
    for (const done of [...this.#waiting]) done();
  }

  #set(object: T): void {
    const current = this.#store.get(keyOf(object.metadata));
    if (current?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    // Deleted and created again while we did not look: two objects, two events.
    if (current !== undefined && current.metadata.uid !== object.metadata.uid)
      this.#delete(keyOf(current.metadata), undefined);
    const before = this.#store.set(object);
    for (const handler of this.#handlers)
      this.#call(() => (before === undefined ? handler.add?.(object) : handler.update?.(before, object)));
  }

  #delete(key: string, last: T | undefined): void {
    const before = this.#store.delete(key);
    if (before === undefined) return;
    for (const handler of this.#handlers) this.#call(() => handler.delete?.(last ?? before));
  }

  /** One handler's fault must not keep the others from the event. */
  #call(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.options.logger.error({ err: error, resource: this.kind.resource }, 'an event handler failed');
    }
  }
}

export function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  // Not by `delete`, which would make a hash table of each. The cast: what ObjectMeta may lack is all that is left out.
  const kept = Object.entries(object.metadata).filter(([name]) => name !== 'managedFields');
  const metadata = Object.fromEntries(kept) as object as ObjectMeta;
  return { ...object, metadata };
}
