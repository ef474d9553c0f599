/** The informers of one process: one for each kind and scope, shared by all who ask. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Client, Kind } from './client.js';
import { systemClock, type Clock } from './clock.js';
import { SharedInformer, type Informer } from './informer.js';
import type { Logger } from './logger.js';
import type { ReflectorMetrics, Scope } from './reflector.js';
import { sharedSignal } from './signals.js';

export interface InformersOptions {
  readonly client: Client;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly metrics?: ReflectorMetrics | undefined;
  /** What to keep of the objects of a kind; all but managedFields if absent. */
  readonly keep?: <T extends KubernetesObject>(kind: Kind<T>) => (object: T) => T;
  /** Kinds of which all objects are mirrored in any case: who asks for those with some label gets all, and mirrors none twice. */
  readonly whole?: readonly Kind<KubernetesObject>[];
}

export class Informers {
  readonly #informers = new Map<string, { informer: unknown; run(signal: AbortSignal): Promise<void> }>();
  readonly #running: Promise<void>[] = [];
  #signal: AbortSignal | undefined;

  constructor(private readonly options: InformersOptions) {}

  /** Starts at once if `run` has been called, else with `run`. */
  get<T extends KubernetesObject>(kind: Kind<T>, wanted: Scope = {}): Informer<T> {
    const scope = this.#isWhole(kind) ? withoutLabels(wanted) : wanted;
    const id = idOf(kind, scope);
    const existing = this.#informers.get(id);
    // The id names the kind, and so its type.
    if (existing !== undefined) return existing.informer as Informer<T>;
    const { client, logger, clock = systemClock, random, metrics, keep } = this.options;
    const informer = new SharedInformer<T>({
      client,
      kind,
      scope,
      logger,
      clock,
      metrics,
      ...(keep === undefined ? {} : { transform: keep(kind) }),
      ...(random === undefined ? {} : { random }),
    });
    this.#informers.set(id, { informer, run: (signal) => informer.run(signal) });
    if (this.#signal !== undefined) this.#running.push(informer.run(this.#signal));
    return informer;
  }

  /** The informer of all objects of a kind, if somebody has asked for it. */
  existing<T extends KubernetesObject>(kind: Kind<T>): Informer<T> | undefined {
    return this.#informers.get(idOf(kind, {}))?.informer as Informer<T> | undefined;
  }

  #isWhole<T extends KubernetesObject>({ group, resource }: Kind<T>): boolean {
    return this.options.whole?.some((each) => each.group === group && each.resource === resource) === true;
  }

  /** Runs all informers, also those asked for later, until the signal aborts. */
  async run(stop: AbortSignal): Promise<void> {
    const signal = sharedSignal(stop);
    if (this.#signal !== undefined) throw new Error('the informers run already');
    this.#signal = signal;
    for (const informer of this.#informers.values()) this.#running.push(informer.run(signal));
    if (!signal.aborted)
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    await Promise.all(this.#running);
  }
}

function idOf<T extends KubernetesObject>(kind: Kind<T>, scope: Scope): string {
  const { namespace, labelSelector, fieldSelector } = scope;
  return JSON.stringify([kind.group, kind.version, kind.resource, namespace, labelSelector, fieldSelector]);
}

function withoutLabels({ namespace, fieldSelector }: Scope): Scope {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
