/** Finds the handler for a request on a resource. */
import { ApiError, badRequest, notFound } from '../errors/api-error.js';
import { pathNotFound } from '../http/status-reply.js';
import { findVersion, type Endpoint } from '../registry/endpoint.js';
import type { Reply, RequestContext, Verb } from '../request.js';
import { create } from './create.js';
import { remove } from './delete.js';
import { removeCollection } from './delete-collection.js';
import { get } from './get.js';
import { list } from './list.js';
import { patch } from './patch.js';
import type { ObjectHandler, ResourceHandler, ResourceRequest, Serving } from './request.js';
import { scale } from './scale.js';
import { update } from './update.js';
import { watch } from './watch.js';
import { writeSubresource } from './write-subresource.js';

const collectionHandlers: Partial<Record<Verb, ResourceHandler>> = {
  create,
  list,
  watch,
  deletecollection: removeCollection,
};

const objectHandlers: Partial<Record<Verb, ObjectHandler>> = { get, update, patch, delete: remove };
const statusHandlers: Partial<Record<Verb, ObjectHandler>> = { get, update, patch };

function methodNotAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** The handler of a subresource; undefined if the kind has no such subresource. */
function subresourceHandlers(
  { resource }: Endpoint,
  subresource: string,
): Partial<Record<Verb, ObjectHandler>> | undefined {
  if (subresource === 'status') return resource.status ? statusHandlers : undefined;
  if (subresource === 'scale') return resource.scale === undefined ? undefined : scale;
  const declared = Object.hasOwn(resource.subresources ?? {}, subresource)
    ? resource.subresources?.[subresource]
    : undefined;
  if (declared === undefined) return undefined;
  const handler: ObjectHandler = (serving, request) => writeSubresource(serving, request, declared);
  return { [declared.verb]: handler };
}

/** Whether the path has a namespace where the kind needs one, and none where it has none. */
function scopeFits({ resource }: Endpoint, { verb, namespace }: RequestContext['info']): boolean {
  // A namespace is its own, as far as the path goes.
  if (!resource.namespaced) return namespace === undefined || resource.plural === 'namespaces';
  return namespace !== undefined || verb === 'list' || verb === 'watch';
}

function handleObject(serving: Serving, request: ResourceRequest, name: string): Promise<Reply> {
  const { endpoint, context } = request;
  const { verb, subresource } = context.info;
  const { group, plural } = endpoint.resource;
  const handlers = subresource === undefined ? objectHandlers : subresourceHandlers(endpoint, subresource);
  if (handlers === undefined) throw notFound(group, plural, name);
  const handler = handlers[verb];
  if (handler === undefined) throw methodNotAllowed();
  return handler(serving, { ...request, name });
}

/** Serves a request whose resource is `endpoint`, or answers that there is no such path. */
export async function dispatch(
  serving: Serving,
  endpoint: Endpoint | undefined,
  context: RequestContext,
): Promise<Reply> {
  const { info } = context;
  const version = endpoint === undefined ? undefined : findVersion(endpoint.resource, info.version);
  if (endpoint === undefined || version === undefined || !scopeFits(endpoint, info)) return pathNotFound();
  if (version.deprecationWarning !== undefined) context.warn(version.deprecationWarning);
  const { verbs } = endpoint.resource;
  if (info.subresource === undefined && verbs?.includes(info.verb) === false) throw methodNotAllowed();
  const namespace = endpoint.resource.namespaced ? info.namespace : undefined;
  const request = { context, endpoint, version: info.version, namespace };
  const collectionHandler = info.subresource === undefined ? collectionHandlers[info.verb] : undefined;
  if (collectionHandler !== undefined) return collectionHandler(serving, request);
  if (info.name === undefined) throw badRequest('name must be provided');
  return handleObject(serving, request, info.name);
}
