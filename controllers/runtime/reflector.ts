/**
 * Mirrors one collection into a sink: list, then watch, for ever. The sink gets each state once and in order; after a
 * gap (410, a failed list) it gets the whole collection again.
 *
 * States: listing → watching → (ended: watching again | failed: waiting → watching | expired: waiting → listing).
 * A list is the beginning of a watch (`sendInitialEvents`), so that no more than one object is held beside what is kept of it; pages are
 * read where the server knows no such watches.
 */
import type { KubernetesObject } from '../../openapi/meta.js';
import { Backoff } from './backoff.js';
import type { Client, Kind, WatchEvent } from './client.js';
import { sleep, type Clock } from './clock.js';
import { ConnectionError, StatusError, isExpired } from './errors.js';
import type { Logger } from './logger.js';
import { keyOf } from './object-key.js';

export interface ReflectorSink<T> {
  /** The whole collection: what is not in it is gone. */
  replace(objects: readonly T[]): void;
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
}

/** Which objects of a kind to mirror. */
export interface Scope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Seconds; `name` is the resource. */
export interface ReflectorMetrics {
  listed(name: string, items: number, seconds: number): void;
  /** A watch has ended. */
  watched(name: string, items: number, seconds: number): void;
  resourceVersion(name: string, version: string): void;
}

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly scope?: Scope;
  readonly sink: ReflectorSink<T>;
  /** What to keep of an object. */
  readonly transform?: (object: T) => T;
  readonly metrics?: ReflectorMetrics | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
  readonly pageSize?: number;
}

const shortestDelay = 800;
const longestDelay = 30_000;
/** A watch that ends sooner is no sign of health: the next one waits. */
const healthyWatch = 5000;
/** The server ends a watch after 5 to 10 minutes, so that watchers spread over its replicas. */
const watchSeconds = 300;
/** No event and no bookmark (about one a minute) for so long: the connection is dead. */
const inactivityLimit = 150_000;

type State = { readonly name: 'listing' } | { readonly name: 'watching'; readonly resourceVersion: string };

/** Runs until the signal aborts, then returns. */
export async function runReflector<T extends KubernetesObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const reflector = new Reflector(options);
  await reflector.run(signal);
}

class Reflector<T extends KubernetesObject> {
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #keep: (object: T) => T;
  #state: State = { name: 'listing' };
  /** False: this server only serves pages. */
  #streams = true;

  constructor(private readonly options: ReflectorOptions<T>) {
    this.#random = options.random ?? Math.random;
    this.#keep = options.transform ?? ((object) => object);
    this.#backoff = new Backoff({ minimum: shortestDelay, maximum: longestDelay, random: this.#random });
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        signal.throwIfAborted();
        const delay = await this.#step(signal);
        if (delay > 0) await sleep(this.options.clock, delay, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** One list or one watch. Returns how long to wait before the next. */
  async #step(signal: AbortSignal): Promise<number> {
    try {
      if (this.#state.name === 'listing' && !this.#streams) {
        await this.#list(signal);
        return 0;
      }
      const started = this.options.clock.monotonic();
      await this.#watch(signal);
      return this.#afterWatch(started);
    } catch (error) {
      return signal.aborted ? 0 : this.#afterError(error);
    }
  }

  #afterWatch(started: number): number {
    if (this.options.clock.monotonic() - started < healthyWatch) return this.#backoff.next();
    this.#backoff.reset();
    return 0;
  }

  #afterError(error: unknown): number {
    const resource = this.options.kind.resource;
    if (this.#state.name === 'listing' && this.#streams && refusesToStream(error)) {
      this.#streams = false;
      return 0;
    }
    const delay = this.#backoff.next();
    if (isExpired(error)) {
      this.#state = { name: 'listing' };
      this.options.logger.info({ resource }, 'the watch is too far behind; listing again');
      return delay;
    }
    this.options.logger.warn(
      { resource, err: error, state: this.#state.name, delay },
      'list or watch failed',
    );
    const wanted = error instanceof StatusError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    return Math.max(delay, wanted);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, kind, scope, pageSize = 500 } = this.options;
    const started = this.options.clock.monotonic();
    const objects: T[] = [];
    let page = await client.list(kind, { ...scope, limit: pageSize }, signal);
    for (;;) {
      for (const object of page.items) objects.push(this.#keep(object));
      const next = page.metadata.continue;
      if (next === undefined || next === '') break;
      page = await client.list(kind, { ...scope, limit: pageSize, continue: next }, signal);
    }
    const version = page.metadata.resourceVersion;
    if (version === undefined || version === '')
      throw new ConnectionError(`the list of ${kind.resource} carries no resourceVersion`);
    this.#listed(objects, version, started);
  }

  #listed(objects: readonly T[], version: string, started: number): void {
    const { kind, sink, metrics, clock } = this.options;
    sink.replace(objects);
    metrics?.listed(kind.resource, objects.length, (clock.monotonic() - started) / 1000);
    this.#watching(version);
  }

  #watching(resourceVersion: string): void {
    this.#state = { name: 'watching', resourceVersion };
    this.options.metrics?.resourceVersion(this.options.kind.resource, resourceVersion);
  }

  /** While listing, the watch begins with what is there. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { client, kind, scope, clock, metrics } = this.options;
    const timeoutSeconds = Math.round(watchSeconds * (1 + this.#random()));
    const start =
      this.#state.name === 'listing'
        ? ({ resourceVersion: '', sendInitialEvents: true } as const)
        : { resourceVersion: this.#state.resourceVersion };
    const params = { ...scope, ...start, timeoutSeconds };
    const watchdog = new Watchdog(clock, inactivityLimit);
    const started = clock.monotonic();
    const initial = new Map<string, T>();
    let items = 0;
    try {
      const either = AbortSignal.any([signal, watchdog.signal]);
      for await (const event of client.watch(kind, params, either)) {
        if (signal.aborted) return;
        watchdog.reset();
        if (this.#state.name === 'listing') this.#collect(initial, event, started);
        else this.#follow(event);
        if (event.type !== 'BOOKMARK') items += 1;
      }
      if (this.#state.name === 'listing')
        throw new ConnectionError(`the watch of ${kind.resource} ended before all objects had come`);
    } finally {
      watchdog.stop();
      metrics?.watched(kind.resource, items, (clock.monotonic() - started) / 1000);
    }
  }

  #collect(initial: Map<string, T>, event: WatchEvent<T>, started: number): void {
    if (event.type !== 'BOOKMARK') {
      const key = keyOf(event.object.metadata);
      if (event.type === 'DELETED') initial.delete(key);
      else initial.set(key, this.#keep(event.object));
    } else if (event.initialEventsEnd === true) {
      this.#listed([...initial.values()], event.resourceVersion, started);
      initial.clear();
    }
  }

  #follow(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#watching(event.resourceVersion);
      return;
    }
    this.options.sink.apply(event.type, this.#keep(event.object));
    this.#watching(event.object.metadata.resourceVersion);
  }
}

/** As servers answer that know no `sendInitialEvents`. */
function refusesToStream(error: unknown): boolean {
  return error instanceof StatusError && (error.code === 422 || error.code === 400);
}

/** Aborts its signal unless it is reset in time. */
class Watchdog {
  readonly #controller = new AbortController();
  #cancel: () => void;

  constructor(
    private readonly clock: Clock,
    private readonly limit: number,
  ) {
    this.#cancel = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    this.#cancel();
    this.#cancel = this.#start();
  }

  stop(): void {
    this.#cancel();
  }

  #start(): () => void {
    return this.clock.timer(this.limit, () => {
      this.#controller.abort(new ConnectionError(`no event for ${this.limit / 1000} s`));
    });
  }
}
