/**
 * The one way in. Every write of every verb, subresource and controller goes through `create` or `update` here: complete the
 * metadata → prepare → mutate → validate → managedFields → compare and swap. Deletes are in `delete.ts`.
 */
import type { KubernetesObject } from '../../openapi/meta.js';
import { ConflictError } from '../../storage/errors.js';
import type { Entry } from '../../storage/interface.js';
import type { FieldsContext } from '../apply/interface.js';
import { encodeStored, type Serialized } from '../codec/stored-bytes.js';
import { alreadyExists, badRequest, conflict, invalid } from '../errors/api-error.js';
import { changedMeanwhile } from '../errors/status.js';
import type { Admitter, WriteContext } from './admit.js';
import { attributesOf } from './attributes.js';
import { apiVersion, decodeEntry } from './endpoint.js';
import { sameJson } from './equal.js';
import { objectKey } from './keys.js';
import { completeNew, completeUpdate, generateName, isUnset, timestamp, type Draft } from './metadata.js';
import { invalidValue, requiredValue } from './metadata-rules.js';
import { requireNamespace, type NamespaceLookup } from './namespaces.js';
import { onNewest } from './on-newest.js';
import type { Resource, StrategyContext } from './resource.js';
import { desiredChanged, keepApart, withoutStatus } from './sections.js';

/** What the write path needs of its surroundings. */
export interface WriteDependencies {
  readonly admitter: Admitter;
  readonly namespaces: NamespaceLookup;
  /** Milliseconds since 1970. */
  now(): number;
  uuid(): string;
  random(bytes: number): Uint8Array;
}

/**
 * How an update turns what is stored into what shall be stored. Gets a value of its own, which it may change; called again
 * with the newer state when another write came first.
 */
export type Change = (current: KubernetesObject) => Draft | Promise<Draft>;

export interface UpdateOptions {
  /** A draft without a resourceVersion is refused, unless the kind allows that (PUT). */
  readonly requireRevision?: boolean;
  /** The change has settled managedFields itself (apply). */
  readonly ownsFields?: boolean;
}

export interface WritePath {
  /** The draft is the write path's own from then on. */
  create(
    context: WriteContext,
    draft: Draft,
    options?: Pick<UpdateOptions, 'ownsFields'>,
  ): Promise<Serialized>;
  /** A change that changes nothing writes nothing. The last finalizer's removal from an object that is being deleted deletes it. */
  update(context: WriteContext, name: string, change: Change, options?: UpdateOptions): Promise<Serialized>;
}

/** A name is generated anew so often before a collision is the client's. */
const generateAttempts = 8;
/** A change that is not tied to a revision is tried so often against newer states. */
const updateAttempts = 16;

/** Whether nothing holds up the deletion of an object any longer. */
export function isFree(resource: Resource, object: KubernetesObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  return (
    finalizers.length === 0 &&
    deletionGracePeriodSeconds === 0 &&
    resource.strategy.holdsDeletion?.(object) !== true
  );
}

function strategyContext({ user, subresource, dryRun }: WriteContext, now: string): StrategyContext {
  return { user, subresource, dryRun, now };
}

export function fieldsContext(
  { endpoint: { resource }, version, subresource, manager }: WriteContext,
  now: string,
): FieldsContext {
  return { manager, apiVersion: apiVersion(resource.group, version), subresource, now };
}

function copyJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Throws unless the draft is of the object that it shall replace, in the state that its author saw. */
function checkPreconditions(
  { endpoint: { resource } }: WriteContext,
  { metadata }: Draft,
  current: KubernetesObject,
  requireRevision: boolean,
): void {
  const { group, plural, strategy } = resource;
  const { name, uid, resourceVersion } = current.metadata;
  if (metadata.name === undefined || metadata.name === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (metadata.name !== name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  if (metadata.namespace !== undefined && metadata.namespace !== current.metadata.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (metadata.uid !== undefined && metadata.uid !== '' && metadata.uid !== uid) {
    throw conflict(group, plural, name, `the UID ${metadata.uid} is not that of the object, which is ${uid}`);
  }
  if (isUnset(metadata.resourceVersion)) {
    if (!requireRevision || strategy.unconditionalUpdate === true) return;
    throw invalid(group, plural, name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (metadata.resourceVersion !== resourceVersion) throw conflict(group, plural, name, changedMeanwhile);
}

export function createWritePath(dependencies: WriteDependencies): WritePath {
  const { admitter, namespaces } = dependencies;

  async function store(
    { endpoint, dryRun }: WriteContext,
    object: KubernetesObject,
    before: Entry | undefined,
  ): Promise<Serialized> {
    const { resource } = endpoint;
    const attributes = attributesOf(resource, object);
    const bytes = encodeStored(object);
    if (dryRun) return { bytes, attributes, revision: before?.revision };
    const gone = object.metadata.deletionTimestamp !== undefined && isFree(resource, object);
    const ttlSeconds = resource.strategy.ttlSeconds?.(object);
    const entry = await endpoint.store.write({
      key: objectKey(resource, object.metadata),
      expect: before?.revision ?? 0,
      bytes: gone ? undefined : bytes,
      attributes,
      ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    });
    return gone ? { bytes, attributes, revision: entry.revision } : entry;
  }

  async function createNamed(
    context: WriteContext,
    draft: Draft,
    name: string,
    ownsFields: boolean,
  ): Promise<Serialized> {
    const { endpoint } = context;
    const { resource } = endpoint;
    const now = timestamp(dependencies.now());
    const identity = { name, namespace: context.namespace, uid: dependencies.uuid(), now };
    const object = completeNew(withoutStatus(resource, draft), identity, resource.strategy);
    endpoint.schema.applyDefaults(object);
    resource.strategy.prepareForCreate?.(object, strategyContext(context, now));
    if (context.namespace !== undefined) {
      await requireNamespace(namespaces, context.namespace, resource, name);
    }
    await admitter.create(context, object);
    if (!ownsFields) endpoint.fields.update(undefined, object, fieldsContext(context, now));
    if (context.dryRun) {
      const key = objectKey(resource, object.metadata);
      const existing = await endpoint.store.get(key, { kind: 'newest' });
      if (existing !== undefined) throw new ConflictError(key, existing);
    }
    return store(context, object, undefined);
  }

  async function create(
    context: WriteContext,
    draft: Draft,
    { ownsFields = false }: Pick<UpdateOptions, 'ownsFields'> = {},
  ): Promise<Serialized> {
    const { group, kind, plural } = context.endpoint.resource;
    const { name: given = '', generateName: base = '' } = draft.metadata;
    if (given === '' && base === '') {
      throw invalid(group, kind, '', [requiredValue('metadata.name', 'name or generateName is required')]);
    }
    for (let attempt = 1; ; attempt++) {
      const name = given === '' ? generateName(base, (bytes) => dependencies.random(bytes)) : given;
      try {
        // A draft whose generated name is taken is used again, so that it must stay as it is.
        const own = given === '' ? copyJson(draft) : draft;
        return await createNamed(context, own, name, ownsFields);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        if (given !== '' || attempt === generateAttempts) throw alreadyExists(group, plural, name);
      }
    }
  }

  async function updateOnce(
    context: WriteContext,
    entry: Entry,
    change: Change,
    { requireRevision = false, ownsFields = false }: UpdateOptions,
  ): Promise<Serialized> {
    const { endpoint } = context;
    const { resource } = endpoint;
    const decode = (): KubernetesObject => decodeEntry(resource, context.version, entry);
    const old = decode();
    const draft = await change(decode());
    checkPreconditions(context, draft, old, requireRevision);
    const now = timestamp(dependencies.now());
    const object = keepApart(resource, context.subresource, completeUpdate(draft, old), old);
    endpoint.schema.applyDefaults(object);
    resource.strategy.prepareForUpdate?.(object, old, strategyContext(context, now));
    await admitter.update(context, object, old);
    if (old.metadata.generation !== undefined && desiredChanged(resource, object, old)) {
      object.metadata.generation = old.metadata.generation + 1;
    }
    if (!ownsFields) endpoint.fields.update(old, object, fieldsContext(context, now));
    if (sameJson(object, old)) return entry;
    return store(context, object, entry);
  }

  async function update(
    context: WriteContext,
    name: string,
    change: Change,
    options: UpdateOptions = {},
  ): Promise<Serialized> {
    const reference = { namespace: context.namespace, name };
    const attempt = (entry: Entry): Promise<Serialized> => updateOnce(context, entry, change, options);
    return onNewest(context.endpoint, reference, { attempt, attempts: updateAttempts });
  }

  return { create, update };
}
