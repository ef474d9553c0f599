/** What the published documents need to know of a resource: the interface between a server's table of resources and openapi/. */

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** One resource in one version. */
export interface PublishedResource {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Full name of the schema; undefined if only subresources are served here. */
  readonly definition: string | undefined;
  /** Of the resource itself: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verbs: readonly string[];
  /** Whether a delete answers with the object; else with a Status, unless something holds the deletion up. */
  readonly returnsDeletedObject: boolean;
  /** Whether `/status` is served: get, update, patch. */
  readonly status: boolean;
  /** Whether `/scale` is served. */
  readonly scale: boolean;
  readonly subresources: readonly PublishedSubresource[];
}

/** A subresource besides `status` and `scale`. Its bodies and answers are looked up in `subresource-details.ts`. */
export interface PublishedSubresource {
  /** `start`, `vnc/screenshot`; empty for what is of no object. */
  readonly name: string;
  /** What discovery says: `get` is GET, `create` POST, `update` PUT, `patch` PATCH, `delete` DELETE. */
  readonly verbs: readonly string[];
  readonly responseKind: GroupVersionKind;
}

/** `apis/kubevirt.io/v1`, `api/v1`: the name of a group-version's document, and the start of its paths. */
export function groupVersionPath(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}
