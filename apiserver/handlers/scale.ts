/** The scale subresource: the replicas of an object, in the same form for all kinds that have them. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Scale } from '../../openapi/generated/types/autoscaling_v1.js';
import { decodeBody, isJsonObject } from '../codec/decode.js';
import { contentType, jsonType, negotiate, yamlType } from '../codec/media-types.js';
import type { Serialized } from '../codec/stored-bytes.js';
import { badRequest, conflict, invalid, notFound } from '../errors/api-error.js';
import { changedMeanwhile } from '../errors/status.js';
import { decodeEntry, readEntry } from '../registry/endpoint.js';
import { invalidValue } from '../registry/metadata-rules.js';
import { timestamp } from '../registry/metadata.js';
import { valueAt, withValueAt } from '../registry/paths.js';
import type { ScalePaths } from '../registry/resource.js';
import { fieldsContext } from '../registry/write-path.js';
import type { Reply } from '../request.js';
import { readPatchOptions, readWriteOptions, type WriteOptions } from './options.js';
import { applyPatchType, jsonPatchType, mergePatchType, readPatcher } from './patch.js';
import { writeContext, type ObjectHandler, type ObjectRequest, type Serving } from './request.js';
import { documentReply } from './respond.js';

function pathsOf({ endpoint: { resource }, name }: ObjectRequest): ScalePaths {
  if (resource.scale === undefined) throw notFound(resource.group, resource.plural, name);
  return resource.scale;
}

export function scaleOf(object: KubernetesObject, paths: ScalePaths): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, paths.specReplicas);
  const current = valueAt(object, paths.statusReplicas);
  const selector = valueAt(object, paths.labelSelector);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: typeof current === 'number' ? current : 0,
      ...(typeof selector === 'string' ? { selector } : {}),
    },
  };
}

function reply(request: ObjectRequest, object: Serialized): Reply {
  const representation = negotiate(request.context.headers['accept'], 'object');
  const scale = scaleOf(decodeEntry(request.endpoint.resource, request.version, object), pathsOf(request));
  return documentReply(representation, 200, [Buffer.from(`${JSON.stringify(scale)}\n`)]);
}

/** Replicas that a Scale asks for. Throws for what is none, and for one of an older state. */
function wantedReplicas(
  { endpoint: { resource }, name }: ObjectRequest,
  paths: ScalePaths,
  scale: unknown,
  current: Scale,
): number {
  const { group, kind, plural } = resource;
  if (!isJsonObject(scale) || scale['kind'] !== 'Scale' || scale['apiVersion'] !== 'autoscaling/v1') {
    throw badRequest('the body must be a Scale of autoscaling/v1');
  }
  const sentName = valueAt(scale, 'metadata.name');
  if (sentName !== undefined && sentName !== name) {
    throw badRequest(
      `the name of the object (${JSON.stringify(sentName)}) does not match the name on the URL (${name})`,
    );
  }
  const revision = valueAt(scale, 'metadata.resourceVersion');
  if (revision !== undefined && revision !== '' && revision !== current.metadata.resourceVersion) {
    throw conflict(group, plural, name, changedMeanwhile);
  }
  const uid = valueAt(scale, 'metadata.uid');
  if (uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
    throw conflict(group, plural, name, 'the UID is not that of the object');
  }
  const replicas = valueAt(scale, 'spec.replicas') ?? 0;
  if (!Number.isSafeInteger(replicas)) throw badRequest('spec.replicas must be an integer');
  const field = `.${paths.specReplicas}`;
  if (typeof replicas !== 'number' || replicas < 0) {
    throw invalid(group, kind, name, [invalidValue(field, replicas, 'should be a non-negative integer')]);
  }
  return replicas;
}

async function write(
  serving: Serving,
  request: ObjectRequest,
  options: WriteOptions,
  next: (current: Scale) => unknown,
): Promise<Reply> {
  const paths = pathsOf(request);
  const change = (object: KubernetesObject): KubernetesObject => {
    const current = scaleOf(object, paths);
    const replicas = wantedReplicas(request, paths, next(current), current);
    const { metadata, apiVersion, kind } = object;
    return { ...withValueAt(object, paths.specReplicas, replicas), apiVersion, kind, metadata };
  };
  return reply(request, await serving.writes.update(writeContext(request, options), request.name, change));
}

const get: ObjectHandler = async (_serving, request) => {
  pathsOf(request);
  return reply(request, await readEntry(request.endpoint, request));
};

const update: ObjectHandler = (serving, request) => {
  const { context } = request;
  const options = readWriteOptions('UpdateOptions', context.query);
  const { value } = decodeBody(context.body, context.headers['content-type'] ?? jsonType);
  return write(serving, request, options, () => value);
};

/** What a manager applies to a Scale, it applies to the object's replicas: it owns them there, through this subresource. */
async function apply(serving: Serving, request: ObjectRequest): Promise<Reply> {
  const { context, endpoint, name, namespace } = request;
  const paths = pathsOf(request);
  const options = readPatchOptions(context.query, true);
  const { value } = decodeBody(context.body, yamlType);
  if (valueAt(value, 'metadata.managedFields') !== undefined)
    throw badRequest('metadata.managedFields must be nil');
  const write = writeContext(request, options);
  const change = (live: KubernetesObject): KubernetesObject => {
    const replicas = wantedReplicas(request, paths, value, scaleOf(live, paths));
    const { apiVersion, kind } = live;
    const identity = {
      apiVersion,
      kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    };
    const applied =
      valueAt(value, 'spec.replicas') === undefined
        ? identity
        : { ...withValueAt(identity, paths.specReplicas, replicas), ...identity };
    const fields = { ...fieldsContext(write, timestamp(serving.now())), force: options.force };
    // A configuration is no whole object; of its metadata, the merge reads only what is there.
    return endpoint.fields.apply(live, applied as KubernetesObject, fields);
  };
  return reply(request, await serving.writes.update(write, name, change, { ownsFields: true }));
}

const patch: ObjectHandler = (serving, request) => {
  const { context } = request;
  const type = contentType(context.headers['content-type']);
  if (type === applyPatchType) return apply(serving, request);
  const options = readPatchOptions(context.query, false);
  const patcher = readPatcher(type, context.body, [jsonPatchType, mergePatchType, applyPatchType]);
  return write(serving, request, options, (current) => patcher(current).value);
};

export const scale = { get, update, patch } as const;
