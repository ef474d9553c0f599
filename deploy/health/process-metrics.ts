import { collectDefaultMetrics, Registry } from 'prom-client';
import { PrometheusControllerMetrics } from '../../controllers/runtime/prometheus-metrics.js';

/** What every process with work queues tells of itself, and the registry for more. */
export function processMetrics(): {
  readonly registry: Registry;
  readonly metrics: PrometheusControllerMetrics;
} {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return { registry, metrics: new PrometheusControllerMetrics(registry) };
}
