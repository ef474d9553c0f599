/** What the store keeps beside an object's bytes, so that lists, watches and tables need not parse them. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Attributes } from '../../storage/interface.js';
import { decodeStored } from '../codec/stored-bytes.js';
import type { Resource } from './resource.js';

const noLabels: Readonly<Record<string, string>> = {};

export function attributesOf(resource: Resource, object: KubernetesObject): Attributes {
  const { namespace, name, uid, labels = noLabels } = object.metadata;
  const fields: Record<string, string> = {};
  for (const [path, read] of Object.entries(resource.selectableFields)) fields[path] = read(object);
  return {
    namespace,
    name,
    uid,
    labels,
    fields,
    cells: resource.columns.map((column) => column.value(object) ?? null),
  };
}

/** The same from stored bytes, for the cache when it fills. */
export function attributesOfStored(resource: Resource, bytes: Buffer): Attributes {
  const as = { kind: resource.kind, apiVersion: '' };
  return attributesOf(resource, decodeStored(bytes, as, undefined));
}
