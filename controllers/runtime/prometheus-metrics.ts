/** Controllers' metrics for Prometheus, under the names that client-go gives those of its work queues. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ControllerMetrics } from './controller.js';

const durationBuckets = [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

export class PrometheusControllerMetrics implements ControllerMetrics {
  readonly #depth: Gauge<'name'>;
  readonly #work: Histogram<'name'>;
  readonly #retries: Counter<'name'>;
  readonly #results: Counter<'controller' | 'result'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#depth = new Gauge({
      name: 'workqueue_depth',
      help: 'Keys that wait to be reconciled.',
      labelNames: ['name'],
      registers,
    });
    this.#work = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Time that one reconciliation takes.',
      labelNames: ['name'],
      buckets: durationBuckets,
      registers,
    });
    this.#retries = new Counter({
      name: 'workqueue_retries_total',
      help: 'Reconciliations that did not succeed and are tried again.',
      labelNames: ['name'],
      registers,
    });
    this.#results = new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciliations by how they ended.',
      labelNames: ['controller', 'result'],
      registers,
    });
  }

  reconciled(controller: string, outcome: 'success' | 'error' | 'conflict', seconds: number): void {
    this.#work.observe({ name: controller }, seconds);
    this.#results.inc({ controller, result: outcome });
    if (outcome !== 'success') this.#retries.inc({ name: controller });
  }

  queueLength(controller: string, length: number): void {
    this.#depth.set({ name: controller }, length);
  }
}
