/** Server-side apply: a PATCH that says all that one manager wants of an object, which it creates if it is not there. */
import type { KubernetesObject } from '../../openapi/meta.js';
import {
  applyFieldValidation,
  cannotHandle,
  decodeBody,
  decodeObject,
  type DecodedObject,
} from '../codec/decode.js';
import { yamlType, type Representation } from '../codec/media-types.js';
import { ApiError, badRequest, conflict, notFound } from '../errors/api-error.js';
import { objectKey } from '../registry/keys.js';
import { timestamp } from '../registry/metadata.js';
import { fieldsContext } from '../registry/write-path.js';
import type { Reply } from '../request.js';
import type { FieldValidation, PatchOptions } from './options.js';
import { writeContext, type ObjectRequest, type Serving } from './request.js';
import { objectReply } from './respond.js';

type FieldFaults = Pick<DecodedObject, 'duplicates' | 'unknown'>;

/** What the manager wants, checked against the path. */
function readConfiguration(request: ObjectRequest, { fieldValidation }: PatchOptions): KubernetesObject {
  const { context, endpoint, version, name, namespace } = request;
  const decoded = decodeBody(context.body, yamlType);
  const { draft, duplicates, unknown } = decodeObject(endpoint, version, decoded);
  const check = (faults: FieldFaults, validation: FieldValidation): void => {
    applyFieldValidation(
      faults,
      validation,
      (text) => {
        context.warn(text);
      },
      (why) => badRequest(cannotHandle(endpoint, version, why)),
    );
  };
  // No manager can own a field that the schema does not know, so that these are never only warned of.
  check({ duplicates: [], unknown }, 'Strict');
  check({ duplicates, unknown: [] }, fieldValidation);
  const { metadata } = draft;
  if (metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if ((metadata.name ?? name) !== name) {
    throw badRequest(
      `the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${name})`,
    );
  }
  if ((metadata.namespace ?? namespace) !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const identity = { name, ...(namespace === undefined ? {} : { namespace }) };
  // A configuration is no whole object; of its metadata, the merge reads only what is there.
  return { ...draft, metadata: { ...metadata, ...identity } } as KubernetesObject;
}

async function exists({ endpoint, namespace, name }: ObjectRequest): Promise<boolean> {
  const key = objectKey(endpoint.resource, { namespace, name });
  return (await endpoint.store.get(key, { kind: 'newest' })) !== undefined;
}

interface Apply {
  readonly serving: Serving;
  readonly request: ObjectRequest;
  readonly representation: Representation;
  readonly options: PatchOptions;
  readonly applied: KubernetesObject;
}

async function createApplied({ serving, request, representation, options, applied }: Apply): Promise<Reply> {
  const { endpoint, name, context } = request;
  const { group, plural } = endpoint.resource;
  if (context.info.subresource !== undefined) throw notFound(group, plural, name);
  if ((applied.metadata.uid as string | undefined) !== undefined) {
    throw conflict(group, plural, name, `there is no object of the UID ${applied.metadata.uid}`);
  }
  const write = writeContext(request, options);
  const fields = { ...fieldsContext(write, timestamp(serving.now())), force: options.force };
  const draft = endpoint.fields.apply(undefined, applied, fields);
  const created = await serving.writes.create(write, draft, { ownsFields: true });
  return objectReply(request, representation, 201, created, serving.now());
}

async function updateApplied({ serving, request, representation, options, applied }: Apply): Promise<Reply> {
  const write = writeContext(request, options);
  const change = (live: KubernetesObject): KubernetesObject =>
    request.endpoint.fields.apply(live, applied, {
      ...fieldsContext(write, timestamp(serving.now())),
      force: options.force,
    });
  const updated = await serving.writes.update(write, request.name, change, { ownsFields: true });
  return objectReply(request, representation, 200, updated, serving.now());
}

export async function apply(
  serving: Serving,
  request: ObjectRequest,
  representation: Representation,
  options: PatchOptions,
): Promise<Reply> {
  const applied = readConfiguration(request, options);
  const task = { serving, request, representation, options, applied };
  if (await exists(request)) return updateApplied(task);
  try {
    return await createApplied(task);
  } catch (error) {
    // Somebody else has created it since.
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
    return updateApplied(task);
  }
}
