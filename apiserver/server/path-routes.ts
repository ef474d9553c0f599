/** Everything outside resources: documents, health, metrics. */
import type { Discovery } from '../discovery/discovery.js';
import type { OpenApi } from '../discovery/openapi.js';
import { jsonReply } from '../http/status-reply.js';
import { healthEndpoints, type HealthEndpoints } from '../health/health.js';
import { Registry } from 'prom-client';
import type { BytesReply, Handler } from '../request.js';
import type { PathRoute } from './router.js';

export interface PathParts {
  readonly discovery: Discovery;
  readonly openApi: OpenApi;
  readonly health: HealthEndpoints;
  readonly metrics: readonly Pick<Registry, 'metrics'>[];
  readonly version: Handler;
}

export function pathRoutes({
  discovery,
  openApi,
  health,
  metrics,
  version,
}: PathParts): readonly PathRoute[] {
  const routes: PathRoute[] = [
    ...discovery.paths.map((path) => ({ path, handle: discovery.handle })),
    { path: '/openapi/v2', handle: openApi.handle },
    { path: '/openapi/v3', handle: openApi.handle },
    { path: '/version', handle: version },
    { path: '/metrics', handle: () => metricsReply(metrics) },
    ...healthEndpoints.map((endpoint) => ({
      path: `/${endpoint}`,
      handle: (context: Parameters<Handler>[0]) => health.handle(endpoint, context),
    })),
  ];
  const paths = routes.map(({ path }) => path).sort();
  return [...routes, { path: '/', handle: () => Promise.resolve(jsonReply({ paths })) }];
}

/** What Prometheus reads. */
export async function metricsReply(registries: PathParts['metrics']): Promise<BytesReply> {
  const texts = await Promise.all(registries.map((registry) => registry.metrics()));
  return {
    kind: 'bytes',
    status: 200,
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    chunks: texts.map((text) => Buffer.from(text)),
  };
}
