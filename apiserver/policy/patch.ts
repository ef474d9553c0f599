/** Applies what a mutation's expression gave to the object. */
import { cloneJson } from '../../openapi/clone.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { ConfigurationError } from '../apply/configuration.js';
import type { ObjectFields } from '../apply/interface.js';
import { isJsonObject } from '../codec/decode.js';
import { ApiError } from '../errors/api-error.js';
import {
  applyJsonPatch,
  OperationError,
  readOperations,
  type ClaimedOperation,
} from '../handlers/json-patch.js';
import type { Mutation } from './types.js';

/** The patch does not fit the object: the failure policy says what follows. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
}

type Patched = Readonly<Record<string, unknown>>;

/** @param fields undefined: there is no schema to merge by */
export function applyMutation(
  mutation: Mutation,
  object: KubernetesObject,
  patch: unknown,
  fields: Pick<ObjectFields, 'merge'> | undefined,
): Patched {
  const patched =
    mutation.patchType === 'JSONPatch' ? withOperations(object, patch) : merged(object, patch, fields);
  if (isJsonObject(patched)) return patched;
  throw new ApiError('InternalError', 'Internal error occurred: a policy patched the object away');
}

/** A test that fails means that the patch is not to be applied. */
function withOperations(object: KubernetesObject, patch: unknown): unknown {
  try {
    return applyJsonPatch(cloneJson(object), readOperations(patch));
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    if (error.operation['op'] === 'test') return object;
    throw new PatchError(`JSON Patch: ${faultOf(error.operation)}`);
  }
}

/** In kube-apiserver's words. */
function faultOf({ op, path }: ClaimedOperation): string {
  const at = String(path);
  switch (op) {
    case 'add':
      return `add operation does not apply: doc is missing path: ${JSON.stringify(at)}: missing value`;
    case 'replace':
      return `replace operation does not apply: doc is missing path: ${at}: missing value`;
    case 'remove':
      return `error in remove for path: '${at}': Unable to remove nonexistent key: ${at.replace(/^.*\//, '')}: missing value`;
    case 'copy':
    case 'move':
      return `${op} operation does not apply: ${at}`;
    default:
      return `Unexpected kind: ${String(op)}`;
  }
}

function merged(
  object: KubernetesObject,
  configuration: unknown,
  fields: Pick<ObjectFields, 'merge'> | undefined,
): unknown {
  if (!isJsonObject(configuration) || fields === undefined)
    throw new PatchError('error applying patch: the kind has no apply configurations');
  const { apiVersion, kind } = object;
  try {
    return fields.merge(object, { ...configuration, apiVersion, kind });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new PatchError(`error applying patch: ${error.message}`);
    throw error;
  }
}
