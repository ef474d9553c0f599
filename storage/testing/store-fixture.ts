import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type { CacheLimits } from '../cache/options.js';
import { createStoreSet, type StoreSet } from '../cache/store-set.js';
import type {
  Attributes,
  Backend,
  Entry,
  ObjectStore,
  Revision,
  Watch,
  WatchEvent,
  WatchOptions,
} from '../interface.js';
import type { BackendFixture, OpenBackend } from './backend-fixture.js';
import { createManualClock, type ManualClock } from './manual-clock.js';

export const prefix = '/g/things/';

/** An object as these tests store it. */
export interface Thing {
  readonly namespace: string;
  readonly name: string;
  readonly color: string;
}

export const thing = (name: string, color = 'red', namespace = 'ns'): Thing => ({ namespace, name, color });

export const keyOf = ({ namespace, name }: Thing): string => `${prefix}${namespace}/${name}`;

export const bytesOf = (object: Thing): Buffer => Buffer.from(JSON.stringify(object));

export const attributesOf = ({ namespace, name, color }: Thing): Attributes => ({
  namespace,
  name,
  uid: name,
  labels: { color },
  fields: {},
  cells: [],
});

/** `name:color`, with the namespace in front if it is not `ns`. */
export function describeEntry({ bytes }: Entry): string {
  const { namespace, name, color } = JSON.parse(bytes.toString()) as Thing;
  return `${namespace === 'ns' ? '' : `${namespace}/`}${name}:${color}`;
}

export const describeEvent = (event: WatchEvent): string =>
  event.type === 'BOOKMARK'
    ? `BOOKMARK ${event.revision}${event.initialEventsEnd ? ' end' : ''}`
    : `${event.type} ${describeEntry(event.entry)} ${event.entry.revision}`;

export const isColor =
  (color: string) =>
  (attributes: Attributes): boolean =>
    attributes.labels['color'] === color;

export interface StoreFixture extends BackendFixture {
  readonly set: StoreSet;
  readonly store: ObjectStore;
  readonly clock: ManualClock;
  /** How many times bytes were parsed. */
  readonly parsed: () => number;
}

export interface StoreFixtureOptions {
  readonly limits?: Partial<CacheLimits>;
  /** Puts something between the cache and the backend. */
  readonly wrap?: (backend: Backend) => Backend;
  /** Called before the cache fills. */
  readonly prepare?: (backend: Backend) => Promise<void>;
}

export async function openStore(
  t: TestContext,
  open: OpenBackend,
  { limits = {}, wrap = (backend) => backend, prepare }: StoreFixtureOptions = {},
): Promise<StoreFixture> {
  const fixture = await open(t);
  await prepare?.(fixture.backend);
  const clock = createManualClock();
  let parsed = 0;
  const set = createStoreSet({
    backend: wrap(fixture.backend),
    logger: pino({ level: 'silent' }),
    clock,
    limits,
  });
  const store = set.add({
    prefix,
    attributesOf: (_key, bytes) => {
      parsed++;
      return attributesOf(JSON.parse(bytes.toString()) as Thing);
    },
  });
  t.after(() => set.close());
  await set.start();
  return { ...fixture, set, store, clock, parsed: () => parsed };
}

/** Writes it, whatever is there. */
export async function save(store: ObjectStore, object: Thing): Promise<Entry> {
  const key = keyOf(object);
  const current = await store.get(key, { kind: 'newest' });
  return await store.write({
    key,
    expect: current?.revision ?? 0,
    bytes: bytesOf(object),
    attributes: attributesOf(object),
  });
}

export async function erase(store: ObjectStore, object: Thing): Promise<Entry> {
  const key = keyOf(object);
  const current = await store.get(key, { kind: 'newest' });
  return await store.write({
    key,
    expect: current?.revision ?? 0,
    bytes: undefined,
    attributes: attributesOf(object),
  });
}

/** A watch that a test reads event by event. */
export class TestWatch {
  readonly #watch: Watch;
  readonly #abort = new AbortController();
  #events: WatchEvent[] = [];

  constructor(store: ObjectStore, options: Partial<WatchOptions> & Pick<WatchOptions, 'from'>) {
    this.#watch = store.watch({ bookmarks: false, signal: this.#abort.signal, ...options });
  }

  abort(): void {
    this.#abort.abort();
  }

  close(): void {
    this.#watch.close();
  }

  begin(): Promise<void> {
    return this.#watch.begin();
  }

  /** The next `count` events. */
  async read(count: number): Promise<string[]> {
    while (this.#events.length < count) {
      const more = await this.#watch.next();
      if (more === undefined)
        throw new Error(`the watch ended after ${this.#events.map(describeEvent).join()}`);
      this.#events.push(...more);
    }
    return this.#events.splice(0, count).map(describeEvent);
  }

  /** Everything until the watch ends. */
  async readAll(): Promise<string[]> {
    for (let more = await this.#watch.next(); more !== undefined; more = await this.#watch.next()) {
      this.#events.push(...more);
    }
    return this.#events.splice(0).map(describeEvent);
  }
}

export const after = (revision: Revision): WatchOptions['from'] => ({ kind: 'after', revision });
