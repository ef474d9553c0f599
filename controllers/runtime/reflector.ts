/**
 * Mirrors one collection into a sink: list, then watch, for ever. The sink gets each state once and in order; after a
 * gap (410, a failed list) it gets the whole collection again.
 *
 * States: listing → watching → (ended: watching again | failed: waiting → watching | expired: waiting → listing).
 */
import type { KubernetesObject } from '../../openapi/meta.js';
import { Backoff } from './backoff.js';
import type { Client, Kind } from './client.js';
import { sleep, type Clock } from './clock.js';
import { ConnectionError, StatusError, isExpired } from './errors.js';
import type { Logger } from './logger.js';

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

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly scope?: Scope;
  readonly sink: ReflectorSink<T>;
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
  #state: State = { name: 'listing' };

  constructor(private readonly options: ReflectorOptions<T>) {
    this.#random = options.random ?? Math.random;
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
      if (this.#state.name === 'listing') {
        await this.#list(signal);
        return 0;
      }
      const started = this.options.clock.monotonic();
      await this.#watch(this.#state.resourceVersion, signal);
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
    const objects: T[] = [];
    let page = await client.list(kind, { ...scope, limit: pageSize }, signal);
    for (;;) {
      for (const object of page.items) objects.push(object);
      const next = page.metadata.continue;
      if (next === undefined || next === '') break;
      page = await client.list(kind, { ...scope, limit: pageSize, continue: next }, signal);
    }
    const version = page.metadata.resourceVersion;
    if (version === undefined || version === '')
      throw new ConnectionError(`the list of ${kind.resource} carries no resourceVersion`);
    this.options.sink.replace(objects);
    this.#state = { name: 'watching', resourceVersion: version };
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, kind, scope, sink, clock } = this.options;
    const timeoutSeconds = Math.round(watchSeconds * (1 + this.#random()));
    const watchdog = new Watchdog(clock, inactivityLimit);
    try {
      const either = AbortSignal.any([signal, watchdog.signal]);
      for await (const event of client.watch(kind, { ...scope, resourceVersion, timeoutSeconds }, either)) {
        if (signal.aborted) return;
        watchdog.reset();
        if (event.type === 'BOOKMARK') {
          this.#state = { name: 'watching', resourceVersion: event.resourceVersion };
          continue;
        }
        sink.apply(event.type, event.object);
        this.#state = { name: 'watching', resourceVersion: event.object.metadata.resourceVersion };
      }
    } finally {
      watchdog.stop();
    }
  }
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
