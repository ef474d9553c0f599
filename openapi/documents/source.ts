/** The published documents of a server, made when they are first asked for. */
import type { Definitions } from '../schema.js';
import { groupVersionPath, type PublishedResource } from './published-resource.js';
import { SchemaWriter, v2Style, v3Style, type Json } from './schemas.js';
import { openApiV2 } from './v2.js';
import { encodeOpenApiV2 } from './v2-protobuf.js';
import { openApiV3 } from './v3.js';

/** Each document is the same bytes for the life of the source; JSON unless said otherwise. */
export interface DocumentSource {
  /** Names below `/openapi/v3/`: `apis/kubevirt.io/v1`, `api/v1`. */
  readonly v3Paths: readonly string[];
  /** Throws for a name that is not in `v3Paths`. */
  v3(path: string): Buffer;
  v2(): Buffer;
  /** `v2` as protocol buffers. */
  v2Protobuf(): Buffer;
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
  const once = (name: string, make: () => Buffer): Buffer => {
    const known = made.get(name) ?? make();
    made.set(name, known);
    return known;
  };
  const json = (name: string, make: () => unknown): Buffer =>
    once(name, () => Buffer.from(JSON.stringify(make())));
  const v2 = (): Json => openApiV2(new SchemaWriter(definitions, v2Style), resources, serverVersion);
  const v3Schemas = new SchemaWriter(definitions, v3Style);
  return {
    v3Paths: [...byPath.keys()].sort(),
    v3: (path) => {
      const members = byPath.get(path);
      const [first] = members ?? [];
      if (members === undefined || first === undefined)
        throw new Error(`there is no OpenAPI document ${path}`);
      return json(path, () => openApiV3(v3Schemas, first.group, first.version, members, serverVersion));
    },
    v2: () => json('v2', v2),
    v2Protobuf: () => once('v2 protobuf', () => encodeOpenApiV2(v2())),
  };
}
