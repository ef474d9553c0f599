/** The subresources that a kind declares: they write a part of the object through the ordinary write path. */
import type { KubernetesObject } from '../../openapi/meta.js';
import { decodeBody, isJsonObject } from '../codec/decode.js';
import { MetadataError, readMetadata } from '../codec/metadata.js';
import { badRequest } from '../errors/api-error.js';
import { timestamp } from '../registry/metadata.js';
import type { WriteSubresource } from '../registry/resource.js';
import type { Reply } from '../request.js';
import { readWriteOptions } from './options.js';
import { writeContext, type ObjectRequest, type Serving } from './request.js';
import { objectReply, representationOf, successReply } from './respond.js';

function readBody({ context }: ObjectRequest, { kind }: WriteSubresource): KubernetesObject {
  const { value } = decodeBody(context.body, context.headers['content-type']);
  if (!isJsonObject(value)) throw badRequest('the body must be an object');
  if (value['kind'] !== kind) throw badRequest(`the kind of the body must be ${kind}`);
  try {
    // The subresource reads what it needs, and checks it itself.
    return { ...value, metadata: readMetadata(value['metadata'], []) } as KubernetesObject;
  } catch (error) {
    if (error instanceof MetadataError) throw badRequest(error.message);
    throw error;
  }
}

export async function writeSubresource(
  serving: Serving,
  request: ObjectRequest,
  subresource: WriteSubresource,
): Promise<Reply> {
  const representation = representationOf(request, 'object');
  const kind = subresource.verb === 'create' ? 'CreateOptions' : 'UpdateOptions';
  const options = readWriteOptions(kind, request.context.query);
  const body = readBody(request, subresource);
  const write = writeContext(request, options);
  const written = await serving.writes.update(write, request.name, (object) => {
    const { user, dryRun } = write;
    subresource.apply(object, body, {
      user,
      dryRun,
      subresource: write.subresource,
      now: timestamp(serving.now()),
    });
    return object;
  });
  if (subresource.verb === 'update') return objectReply(request, representation, 200, written, serving.now());
  const { group, plural } = request.endpoint.resource;
  return successReply(representation, 201, {
    name: request.name,
    ...(group === '' ? {} : { group }),
    kind: plural,
    uid: written.attributes.uid,
  });
}
