/** Controllers' metrics for Prometheus, under the names that client-go gives those of its work queues and reflectors. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ControllerMetrics } from './controller.js';
import type { ReflectorMetrics } from './reflector.js';
import type { QueueState } from './work-queue.js';

/** As client-go's: each ten times the one before. Seconds. */
const durationBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];
const sizeBuckets = [1, 10, 100, 1000, 10_000, 100_000];

export class PrometheusControllerMetrics implements ControllerMetrics {
  readonly #queues = new Map<string, QueueState>();
  readonly #adds: Counter<'name'>;
  readonly #waited: Histogram<'name'>;
  readonly #work: Histogram<'name'>;
  readonly #retries: Counter<'name'>;
  readonly #results: Counter<'controller' | 'result'>;

  constructor(registry: Registry) {
    const labelNames = ['name'] as const;
    const registers = [registry];
    const buckets = durationBuckets;
    const common = { labelNames, registers };
    this.#gauge(registry, 'workqueue_depth', 'Keys that wait to be reconciled.', (state) => state.length);
    this.#gauge(
      registry,
      'workqueue_unfinished_work_seconds',
      'Time that the reconciliations in progress have taken so far, in all.',
      (state) => state.workedOnFor().reduce((sum, each) => sum + each, 0) / 1000,
    );
    this.#gauge(
      registry,
      'workqueue_longest_running_processor_seconds',
      'Time that the longest reconciliation in progress has taken so far.',
      (state) => Math.max(0, ...state.workedOnFor()) / 1000,
    );
    this.#adds = new Counter({
      name: 'workqueue_adds_total',
      help: 'Keys that were added to a queue and did not wait already.',
      ...common,
    });
    this.#waited = new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'Time that a key waits before it is reconciled.',
      buckets,
      ...common,
    });
    this.#work = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Time that one reconciliation takes.',
      buckets,
      ...common,
    });
    this.#retries = new Counter({
      name: 'workqueue_retries_total',
      help: 'Reconciliations that did not succeed and are tried again.',
      ...common,
    });
    this.#results = new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciliations by how they ended.',
      labelNames: ['controller', 'result'],
      registers,
    });
  }

  #gauge(registry: Registry, name: string, help: string, value: (state: QueueState) => number): void {
    const queues = this.#queues;
    new Gauge({
      name,
      help,
      labelNames: ['name'],
      registers: [registry],
      collect() {
        for (const [queue, state] of queues) this.set({ name: queue }, value(state));
      },
    });
  }

  queue(controller: string, state: QueueState): void {
    this.#queues.set(controller, state);
  }

  added(controller: string): void {
    this.#adds.inc({ name: controller });
  }

  taken(controller: string, seconds: number): void {
    this.#waited.observe({ name: controller }, seconds);
  }

  retried(controller: string): void {
    this.#retries.inc({ name: controller });
  }

  reconciled(controller: string, outcome: 'success' | 'error' | 'conflict', seconds: number): void {
    this.#work.observe({ name: controller }, seconds);
    this.#results.inc({ controller, result: outcome });
  }
}

export class PrometheusReflectorMetrics implements ReflectorMetrics {
  readonly #lists: Counter<'name'>;
  readonly #listTime: Histogram<'name'>;
  readonly #listItems: Histogram<'name'>;
  readonly #watches: Counter<'name'>;
  readonly #shortWatches: Counter<'name'>;
  readonly #watchTime: Histogram<'name'>;
  readonly #watchItems: Histogram<'name'>;
  readonly #version: Gauge<'name'>;

  constructor(registry: Registry) {
    const common = { labelNames: ['name'] as const, registers: [registry] };
    const counter = (name: string, help: string): Counter<'name'> =>
      new Counter({ name: `reflector_${name}`, help, ...common });
    const histogram = (name: string, help: string, buckets: number[]): Histogram<'name'> =>
      new Histogram({ name: `reflector_${name}`, help, buckets, ...common });
    this.#lists = counter('lists_total', 'Whole collections that were fetched.');
    this.#listTime = histogram('list_duration_seconds', 'Time to fetch a whole collection.', durationBuckets);
    this.#listItems = histogram('items_per_list', 'Objects of a whole collection.', sizeBuckets);
    this.#watches = counter('watches_total', 'Watches that were opened.');
    this.#shortWatches = counter('short_watches_total', 'Watches that ended before anything came.');
    this.#watchTime = histogram('watch_duration_seconds', 'Time that a watch lasted.', durationBuckets);
    this.#watchItems = histogram('items_per_watch', 'Changes that came in one watch.', sizeBuckets);
    this.#version = new Gauge({
      name: 'reflector_last_resource_version',
      help: 'Newest resource version that was seen.',
      ...common,
    });
  }

  listed(name: string, items: number, seconds: number): void {
    this.#lists.inc({ name });
    this.#listTime.observe({ name }, seconds);
    this.#listItems.observe({ name }, items);
  }

  watched(name: string, items: number, seconds: number): void {
    this.#watches.inc({ name });
    if (items === 0 && seconds < 1) this.#shortWatches.inc({ name });
    this.#watchTime.observe({ name }, seconds);
    this.#watchItems.observe({ name }, items);
  }

  resourceVersion(name: string, version: string): void {
    const number = Number(version);
    if (Number.isFinite(number)) this.#version.set({ name }, number);
  }
}
