/** The object in the body of a create or update. */
import { applyFieldValidation, cannotHandle, decodeBody, decodeObject } from '../codec/decode.js';
import { badRequest } from '../errors/api-error.js';
import type { Draft } from '../registry/metadata.js';
import type { FieldValidation } from './options.js';
import type { ResourceRequest } from './request.js';

export function readDraft(request: ResourceRequest, validation: FieldValidation): Draft {
  const { context, endpoint, version, namespace } = request;
  const decoded = decodeBody(context.body, context.headers['content-type']);
  const object = decodeObject(endpoint, version, decoded);
  applyFieldValidation(
    object,
    validation,
    (text) => {
      context.warn(text);
    },
    (why) => badRequest(cannotHandle(endpoint, version, why)),
  );
  const { namespace: sent = '' } = object.draft.metadata;
  if (sent !== '' && namespace === undefined) delete object.draft.metadata.namespace;
  else if (sent !== '' && sent !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return object.draft;
}
