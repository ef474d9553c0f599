/** Where the objects come from: a cluster that serves them as custom resources, or a dump of one. */
import type { Resource } from '../../apiserver/registry/resource.js';
import type { KubernetesObject } from '../../openapi/meta.js';

export interface SourceObject {
  /** Undefined for what is none of our kinds; `kind` then names it. */
  readonly resource: Resource | undefined;
  readonly kind: string;
  readonly object: KubernetesObject;
}

export interface Source {
  /** Can be read more than once. Rejects if not everything can be read: half of it would look like all. */
  objects(signal: AbortSignal): AsyncIterable<SourceObject>;
}
