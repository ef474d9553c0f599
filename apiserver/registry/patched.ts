/** Takes what a webhook has made of an object in the middle of its write. */
import type { KubernetesObject, ObjectMeta } from '../../openapi/meta.js';
import { MetadataError, readMetadata } from '../codec/metadata.js';
import { ApiError, badRequest } from '../errors/api-error.js';
import type { WriteContext } from './admit.js';

/** Members of the metadata that are the server's. */
const serverKeys = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
] as const satisfies readonly (keyof ObjectMeta)[];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Changes `object` in place: what is patched counts as if the client had sent it. Throws an ApiError if it is another object.
 */
export function acceptPatched(
  { endpoint: { resource, schema }, subresource }: WriteContext,
  object: KubernetesObject,
  patched: object,
): void {
  const sent: Fields = { ...patched };
  if (sent['kind'] !== object.kind || sent['apiVersion'] !== object.apiVersion)
    throw internal(
      `the patched object is a ${String(sent['kind'])} of ${String(sent['apiVersion'])}, not a ${object.kind} of ${object.apiVersion}`,
    );
  const metadata = patchedMetadata(sent['metadata'], object.metadata);
  const before: Fields = { ...object };
  const next: Record<string, unknown> = subresource === 'status' ? { ...before } : { ...sent, metadata };
  if (subresource === 'status') next['status'] = sent['status'];
  else if (resource.status) next['status'] = before['status'];
  if (next['status'] === undefined) delete next['status'];
  schema.prune(next);
  schema.applyDefaults(next);
  for (const key of Object.keys(object)) Reflect.deleteProperty(object, key);
  Object.assign(object, next);
}

function patchedMetadata(sent: unknown, before: ObjectMeta): object {
  let metadata: Partial<ObjectMeta>;
  try {
    metadata = readMetadata(sent, []);
  } catch (error) {
    if (error instanceof MetadataError) throw internal(`the patched object is wrong: ${error.message}`);
    throw error;
  }
  for (const key of ['name', 'namespace'] as const) {
    if (metadata[key] !== before[key])
      throw badRequest(
        `the ${key} of the patched object (${metadata[key] ?? ''}) does not match the ${key} of the request (${before[key] ?? ''})`,
      );
  }
  const kept: Record<string, unknown> = { ...metadata };
  for (const key of serverKeys) {
    if (before[key] === undefined) Reflect.deleteProperty(kept, key);
    else kept[key] = before[key];
  }
  return kept;
}

function internal(why: string): ApiError {
  return new ApiError('InternalError', `Internal error occurred: ${why}`);
}
