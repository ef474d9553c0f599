/** Watches every kind that the server serves, as far as a garbage collector can collect it. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { ControllerDependencies } from '../dependencies.js';
import { sleep } from '../runtime/clock.js';
import type { DiscoveredKind, Discovery } from '../runtime/discovery.js';
import { SharedInformer, type EventHandler, type Informer } from '../runtime/informer.js';
import { resourceId } from './graph.js';

/** Kinds come and go with aggregated servers and custom resources. Milliseconds. */
const rediscoverAfter = 30_000;
const needed = ['list', 'watch', 'delete', 'patch'];
/** Far too many, and they end by themselves. */
const ignored = new Set(['/events', 'events.k8s.io/events']);

interface Monitor {
  readonly informer: Informer<KubernetesObject>;
  readonly stop: () => void;
}

export class Monitors {
  readonly #monitors = new Map<string, Monitor>();
  #kinds: readonly DiscoveredKind[] = [];

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly discovery: Discovery,
    private readonly handler: (kind: DiscoveredKind) => EventHandler<KubernetesObject>,
  ) {}

  /** The kind that a reference names. */
  find(apiVersion: string, kind: string): DiscoveredKind | undefined {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const found = this.#kinds.find((each) => each.kind === kind && each.group === group);
    return found === undefined ? undefined : { ...found, version };
  }

  /** Everything that is to be watched is known. */
  get hasSynced(): boolean {
    return (
      this.#monitors.size > 0 && [...this.#monitors.values()].every(({ informer }) => informer.hasSynced)
    );
  }

  /** Follows discovery until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    try {
      for (;;) {
        await this.#discover(signal, running);
        await sleep(this.deps.clock, rediscoverAfter, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    await Promise.all(running);
  }

  async #discover(signal: AbortSignal, running: Promise<void>[]): Promise<void> {
    try {
      this.#kinds = await this.discovery.kinds(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.deps.logger.warn({ err: error }, 'the garbage collector could not discover what is served');
      return;
    }
    const wanted = new Map(this.#kinds.filter(isCollectable).map((kind) => [resourceId(kind), kind]));
    for (const [id, monitor] of this.#monitors) {
      if (wanted.has(id)) continue;
      monitor.stop();
      this.#monitors.delete(id);
    }
    for (const [id, kind] of wanted)
      if (!this.#monitors.has(id)) this.#monitors.set(id, this.#start(kind, signal, running));
  }

  /** Shares an informer that others use anyway; else keeps metadata only. */
  #start(kind: DiscoveredKind, signal: AbortSignal, running: Promise<void>[]): Monitor {
    const { client, logger, clock, random, informers } = this.deps;
    const shared = informers.existing<KubernetesObject>(kind);
    if (shared !== undefined) return { informer: shared, stop: shared.addHandler(this.handler(kind)) };
    const informer = new SharedInformer<KubernetesObject>({
      client,
      kind,
      logger,
      clock,
      random,
      transform: metadataOnly,
    });
    informer.addHandler(this.handler(kind));
    const stop = new AbortController();
    running.push(informer.run(AbortSignal.any([signal, stop.signal])));
    return {
      informer,
      stop: () => {
        stop.abort();
      },
    };
  }
}

function isCollectable(kind: DiscoveredKind): boolean {
  return needed.every((verb) => kind.verbs.includes(verb)) && !ignored.has(resourceId(kind));
}

function metadataOnly({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const kept = { ...metadata };
  delete kept.managedFields;
  delete kept.annotations;
  delete kept.labels;
  return { apiVersion, kind, metadata: kept };
}
