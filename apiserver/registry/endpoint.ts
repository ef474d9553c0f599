/** A kind as it is served: its description, its compiled schema and where its objects live. */
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import type { Entry, ObjectStore } from '../../storage/interface.js';
import type { ObjectFields } from '../apply/interface.js';
import { decodeStored, type ServedAs, type Serialized } from '../codec/stored-bytes.js';
import { ApiError, notFound } from '../errors/api-error.js';
import { objectKey, type ObjectReference } from './keys.js';
import type { Resource, ServedVersion } from './resource.js';

/** What the schema of a kind does to objects. Made from `openapi/` by `schema.ts`. */
export interface KindSchema {
  /** Drops what the schema does not know, in place. Returns the paths of what was dropped. */
  prune(object: object): readonly string[];
  /** Fills in defaults, in place. */
  applyDefaults(object: object): void;
  /** Every fault of what the schema says; of an update, those that it brings. */
  validate(object: object, old?: object): readonly StatusCause[];
  /**
   * `current` with a strategic merge patch applied, as a new value; throws a `StrategicMergePatchError`. Only core kinds
   * take such patches, as in Kubernetes: clients know which of their lists are merged.
   */
  readonly strategicMergePatch?: (current: object, patch: object) => unknown;
}

export interface Endpoint {
  readonly resource: Resource;
  readonly schema: KindSchema;
  readonly fields: ObjectFields;
  readonly store: ObjectStore;
}

export function apiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

export function servedAs({ group, kind }: Resource, version: string): ServedAs {
  return { kind, apiVersion: apiVersion(group, version) };
}

export function findVersion(resource: Resource, name: string): ServedVersion | undefined {
  return resource.versions.find((version) => version.name === name);
}

/** The object as of `version`; a new value at every call. */
export function decodeEntry(resource: Resource, version: string, entry: Serialized): KubernetesObject {
  return decodeStored(entry.bytes, servedAs(resource, version), entry.revision);
}

export async function readEntry(endpoint: Endpoint, reference: ObjectReference): Promise<Entry> {
  const { resource, store } = endpoint;
  const entry = await store.get(objectKey(resource, reference), { kind: 'newest' });
  if (entry === undefined) throw notFound(resource.group, resource.plural, reference.name);
  return entry;
}

/** An ApiError about one object of the resource, named as Kubernetes does for conflicts of a delete: by its kind. */
export function kindConflict({ group, kind }: Resource, name: string, why: string): ApiError {
  const subject = group === '' ? kind : `${kind}.${group}`;
  return new ApiError('Conflict', `Operation cannot be fulfilled on ${subject} "${name}": ${why}`, {
    name,
    ...(group === '' ? {} : { group }),
    kind,
  });
}

export function forbidden(
  { group, plural }: Pick<Resource, 'group' | 'plural'>,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): ApiError {
  const subject = group === '' ? plural : `${plural}.${group}`;
  return new ApiError('Forbidden', `${subject} "${name}" is forbidden: ${why}`, {
    name,
    ...(group === '' ? {} : { group }),
    kind: plural,
    ...(causes === undefined ? {} : { causes: [...causes] }),
  });
}
