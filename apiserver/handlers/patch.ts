import { DecodeError, decodeJson, type Decoded } from '../../openapi/json.js';
import { mergePatch } from '../../openapi/merge-patch.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { StrategicMergePatchError } from '../../openapi/strategic-merge-patch.js';
import { applyFieldValidation, decodeObject, isJsonObject } from '../codec/decode.js';
import { contentType, unsupportedMediaType } from '../codec/media-types.js';
import { ApiError, badRequest } from '../errors/api-error.js';
import type { KindSchema } from '../registry/endpoint.js';
import { invalidValue } from '../registry/metadata-rules.js';
import type { Draft } from '../registry/metadata.js';
import { apply } from './apply.js';
import { applyJsonPatch, readOperations } from './json-patch.js';
import { readPatchOptions, type FieldValidation } from './options.js';
import { writeContext, type ObjectHandler, type ObjectRequest } from './request.js';
import { objectReply, representationOf } from './respond.js';

export const jsonPatchType = 'application/json-patch+json';
export const mergePatchType = 'application/merge-patch+json';
export const strategicMergePatchType = 'application/strategic-merge-patch+json';
export const applyPatchType = 'application/apply-patch+yaml';

/** Turns the state as it is into the patched one. The argument may be changed. */
export type Patcher = (current: object) => Decoded;

type StrategicMerge = NonNullable<KindSchema['strategicMergePatch']>;

function decodePatch(body: Buffer): Decoded {
  try {
    return decodeJson(body);
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

function decodeObjectPatch(body: Buffer, what: string): Decoded & { readonly value: object } {
  const { value, duplicates } = decodePatch(body);
  if (!isJsonObject(value)) throw badRequest(`error decoding patch: a ${what} is an object`);
  return { value, duplicates };
}

/**
 * The patch in the body. It is decoded anew at each try, because the result shares parts of it and admission changes the result.
 * Throws 415 for what is neither a JSON nor a merge patch; strategic merge patches are for `strategicPatcher`.
 */
export function readPatcher(type: string, body: Buffer, accepted: readonly string[]): Patcher {
  switch (type) {
    case jsonPatchType:
      return (current) => {
        const { value, duplicates } = decodePatch(body);
        return { value: applyJsonPatch(current, readOperations(value)), duplicates };
      };
    case mergePatchType:
      return (current) => {
        const { value, duplicates } = decodeObjectPatch(body, 'merge patch');
        return { value: mergePatch(current, value), duplicates };
      };
    default:
      throw unsupportedMediaType(accepted);
  }
}

function strategicPatcher(merge: StrategicMerge, body: Buffer): Patcher {
  return (current) => {
    const { value, duplicates } = decodeObjectPatch(body, 'strategic merge patch');
    try {
      return { value: merge(current, value), duplicates };
    } catch (error) {
      if (error instanceof StrategicMergePatchError) throw badRequest(error.message);
      throw error;
    }
  };
}

/** Core kinds take strategic merge patches too; a kind that clients do not have compiled in does not. */
function patcherOf(type: string, { endpoint, context }: ObjectRequest): Patcher {
  const merge = endpoint.schema.strategicMergePatch;
  if (merge === undefined)
    return readPatcher(type, context.body, [jsonPatchType, mergePatchType, applyPatchType]);
  if (type === strategicMergePatchType) return strategicPatcher(merge, context.body);
  const accepted = [jsonPatchType, mergePatchType, strategicMergePatchType, applyPatchType];
  return readPatcher(type, context.body, accepted);
}

function refusePatched(value: unknown, why: string): ApiError {
  const { message = why } = invalidValue('patch', JSON.stringify(value), why);
  return new ApiError('Invalid', ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }],
  });
}

function patched(
  request: ObjectRequest,
  patcher: Patcher,
  current: KubernetesObject,
  validation: FieldValidation,
  warn: (text: string) => void,
): Draft {
  const result = patcher(current);
  const object = decodeObject(request.endpoint, request.version, result);
  applyFieldValidation(object, validation, warn, (why) => refusePatched(result.value, why));
  return object.draft;
}

export const patch: ObjectHandler = async (serving, request) => {
  const { context } = request;
  const type = contentType(context.headers['content-type']);
  const representation = representationOf(request, 'object');
  const options = readPatchOptions(context.query, type === applyPatchType);
  if (type === applyPatchType) return apply(serving, request, representation, options);
  const patcher = patcherOf(type, request);
  const warnings = new Set<string>();
  const change = (current: KubernetesObject): Draft =>
    patched(request, patcher, current, options.fieldValidation, (text) => warnings.add(text));
  const updated = await serving.writes.update(writeContext(request, options), request.name, change);
  for (const text of warnings) context.warn(text);
  return objectReply(request, representation, 200, updated, serving.now());
};
