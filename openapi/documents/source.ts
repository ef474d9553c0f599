/** The published documents of a server, made when they are first asked for. */
import type { Definitions } from '../schema.js';
import { groupVersionPath, type PublishedResource } from './published-resource.js';
import { SchemaWriter, v2Style, v3Style } from './schemas.js';
import { openApiV2 } from './v2.js';
import { openApiV3 } from './v3.js';

/** Each document is JSON, and the same bytes for the life of the source. */
export interface DocumentSource {
  /** Names below `/openapi/v3/`: `apis/kubevirt.io/v1`, `api/v1`. */
  readonly v3Paths: readonly string[];
  /** Throws for a name that is not in `v3Paths`. */
  v3(path: string): Buffer;
  v2(): Buffer;
}

/** `serverVersion` is what `info.version` says. */
export function createDocumentSource(
  definitions: Definitions,
  resources: readonly PublishedResource[],
  serverVersion: string,
): DocumentSource {
  const byPath = new Map<string, PublishedResource[]>();
  for (const resource of resources) {
    const path = groupVersionPath(resource.group, resource.version);
    byPath.set(path, [...(byPath.get(path) ?? []), resource]);
  }
  const made = new Map<string, Buffer>();
  const once = (name: string, make: () => unknown): Buffer => {
    const known = made.get(name) ?? Buffer.from(JSON.stringify(make()));
    made.set(name, known);
    return known;
  };
  const v3Schemas = new SchemaWriter(definitions, v3Style);
  return {
    v3Paths: [...byPath.keys()].sort(),
    v3: (path) => {
      const members = byPath.get(path);
      const [first] = members ?? [];
      if (members === undefined || first === undefined)
        throw new Error(`there is no OpenAPI document ${path}`);
      return once(path, () => openApiV3(v3Schemas, first.group, first.version, members, serverVersion));
    },
    v2: () => once('', () => openApiV2(new SchemaWriter(definitions, v2Style), resources, serverVersion)),
  };
}
