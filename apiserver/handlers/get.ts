import { notFound } from '../errors/api-error.js';
import { objectKey } from '../registry/keys.js';
import { readRevision } from './revision.js';
import { objectReply, representationOf } from './respond.js';
import type { ObjectHandler } from './request.js';

export const get: ObjectHandler = async (serving, request) => {
  const { endpoint, namespace, name, context } = request;
  const { resource, store } = endpoint;
  const representation = representationOf(request, 'object');
  const revision = readRevision(context.query);
  const at =
    revision === undefined
      ? ({ kind: 'newest' } as const)
      : revision === 0
        ? ({ kind: 'any' } as const)
        : ({ kind: 'notOlderThan', revision } as const);
  const entry = await store.get(objectKey(resource, { namespace, name }), at);
  if (entry === undefined) throw notFound(resource.group, resource.plural, name);
  return objectReply(request, representation, 200, entry, serving.now());
};
