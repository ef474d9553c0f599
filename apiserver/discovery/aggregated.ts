/** Aggregated discovery (apidiscovery.k8s.io): everything in one document, in its two versions. */
import type { ApiSurface, ServedResource } from './api-surface.js';

export type AggregatedVersion = 'v2' | 'v2beta1';

export function aggregatedDiscovery(surface: ApiSurface, version: AggregatedVersion): unknown {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: surface.map(({ group, versions }) => ({
      metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
      versions: versions.map((served) => ({
        version: served.version,
        resources: served.resources.map(resourceBody),
        freshness: 'Current',
      })),
    })),
  };
}

function resourceBody(resource: ServedResource): unknown {
  const { shortNames, categories } = resource;
  const subresources = resource.subresources.filter(({ name }) => name !== '');
  return {
    resource: resource.plural,
    ...(resource.responseKind === undefined ? {} : { responseKind: resource.responseKind }),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map(({ name, responseKind, verbs }) => ({
            subresource: name,
            responseKind,
            verbs,
          })),
        }),
  };
}

export function aggregatedContentType(version: AggregatedVersion): string {
  return `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
}

/**
 * Which document an `Accept` header asks for; of several the first that it lists, as clients list their favourite first.
 * `undefined` for the plain ones.
 */
export function negotiateAggregated(accept: string | undefined): AggregatedVersion | undefined {
  for (const range of accept?.split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const values = new Map(parameters.map((part) => part.split('=', 2) as [string, string | undefined]));
    if (type === 'application/json' && values.get('as') === undefined) return undefined;
    if (type !== 'application/json' || values.get('as') !== 'APIGroupDiscoveryList') continue;
    const version = values.get('v');
    if (values.get('g') === 'apidiscovery.k8s.io' && (version === 'v2' || version === 'v2beta1'))
      return version;
  }
  return undefined;
}
