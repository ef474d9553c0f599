/** Serves every discovery path from memory. */
import type { Handler, Reply, RequestContext } from '../request.js';
import { pathNotFound } from '../http/status-reply.js';
import {
  aggregatedContentType,
  aggregatedDiscovery,
  negotiateAggregated,
  type AggregatedVersion,
} from './aggregated.js';
import type { ApiSurface } from './api-surface.js';
import { jsonDocument, serveDocument, type Document } from './document.js';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy.js';

export class Discovery {
  readonly #documents = new Map<string, Document>();
  readonly #aggregated = new Map<string, Document>();
  /** `group/version/resource` of everything that is served, subresources aside. */
  readonly #resources = new Set<string>();

  constructor(surface: ApiSurface) {
    this.#documents.set('/api', jsonDocument(apiVersions(surface)));
    this.#documents.set('/apis', jsonDocument(apiGroupList(surface)));
    for (const served of surface) {
      const base = served.group === '' ? '/api' : `/apis/${served.group}`;
      if (served.group !== '') this.#documents.set(base, jsonDocument(apiGroup(served)));
      for (const version of served.versions) {
        const path = `${base}/${version.version}`;
        this.#documents.set(path, jsonDocument(apiResourceList(served.group, version)));
        for (const { plural } of version.resources) {
          this.#resources.add(`${served.group}/${version.version}/${plural}`);
        }
      }
    }
    const core = surface.filter(({ group }) => group === '');
    const named = surface.filter(({ group }) => group !== '');
    for (const version of ['v2', 'v2beta1'] as const) {
      this.#aggregated.set(`/api ${version}`, aggregatedDocument(core, version));
      this.#aggregated.set(`/apis ${version}`, aggregatedDocument(named, version));
    }
  }

  /** Every path that `handle` answers. */
  get paths(): readonly string[] {
    return [...this.#documents.keys()];
  }

  serves(group: string, version: string, resource: string): boolean {
    return this.#resources.has(`${group}/${version}/${resource}`);
  }

  readonly handle: Handler = (context) => Promise.resolve(this.#answer(context));

  #answer(context: RequestContext): Reply {
    const path = withoutTrailingSlash(context.info.path);
    if (path === '/api' || path === '/apis') {
      const version = negotiateAggregated(context.headers.accept);
      const aggregated = version === undefined ? undefined : this.#aggregated.get(`${path} ${version}`);
      if (aggregated !== undefined) return serveDocument(context, aggregated);
    }
    const found = this.#documents.get(path);
    return found === undefined ? pathNotFound() : serveDocument(context, found);
  }
}

function aggregatedDocument(surface: ApiSurface, version: AggregatedVersion): Document {
  return jsonDocument(aggregatedDiscovery(surface, version), aggregatedContentType(version));
}

export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
