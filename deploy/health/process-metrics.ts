import { collectDefaultMetrics, Registry } from 'prom-client';
import { PrometheusControllerMetrics } from '../../controllers/runtime/prometheus-metrics.js';

/**
 * How often it is measured how late the event loop is. The package's own 10 ms wake a process that has nothing to do a hundred times a
 * second, which is most of what an idle node agent costs.
 */
const eventLoopMonitoringPrecision = 100;

/** What every process with work queues tells of itself, and the registry for more. */
export function processMetrics(): {
  readonly registry: Registry;
  readonly metrics: PrometheusControllerMetrics;
} {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  return { registry, metrics: new PrometheusControllerMetrics(registry) };
}
