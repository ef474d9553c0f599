/** Deletes: at once, or by marking the object until its finalizers, its grace period or its kind let it go. */
import type { KubernetesObject, ObjectMeta } from '../../openapi/meta.js';
import type { Entry } from '../../storage/interface.js';
import { encodeStored, type Serialized } from '../codec/stored-bytes.js';
import type { Admitter, WriteContext } from './admit.js';
import { attributesOf } from './attributes.js';
import { decodeEntry, kindConflict } from './endpoint.js';
import { onNewest } from './on-newest.js';
import { timestamp } from './metadata.js';
import type { Resource } from './resource.js';
import { isFree } from './write-path.js';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** `gone`: the object is no more. `pending`: it is still there, marked, in the state that is returned. */
export interface DeleteResult {
  readonly outcome: 'gone' | 'pending';
  readonly object: Serialized;
}

export type Delete = (context: WriteContext, name: string, options: DeleteOptions) => Promise<DeleteResult>;

const attempts = 16;

function checkPreconditions(
  resource: Resource,
  { name, uid, resourceVersion }: ObjectMeta,
  { preconditions }: DeleteOptions,
): void {
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw kindConflict(
      resource,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw kindConflict(
      resource,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** The finalizers that make the garbage collector do what the policy asks for. */
function finalizersFor(
  resource: Resource,
  { finalizers = [] }: ObjectMeta,
  requested: PropagationPolicy | undefined,
): readonly string[] {
  const fallBack = resource.strategy.defaultPropagation ?? 'Background';
  const wants = (policy: PropagationPolicy, finalizer: string): boolean =>
    requested === undefined ? finalizers.includes(finalizer) || fallBack === policy : requested === policy;
  const kept = finalizers.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  if (wants('Orphan', 'orphan')) return [...kept, 'orphan'];
  return wants('Foreground', 'foregroundDeletion') ? [...kept, 'foregroundDeletion'] : kept;
}

/** The object as it is marked: with the finalizers of the policy, and how long its owner may take. */
function mark(
  resource: Resource,
  object: KubernetesObject,
  options: DeleteOptions,
  now: number,
): { readonly marked: KubernetesObject; readonly changed: boolean } {
  const { metadata } = object;
  const requested = resource.strategy.deletionGraceSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  const running =
    metadata.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0);
  // A grace period that runs may be shortened, never prolonged.
  const grace = running === undefined ? requested : Math.min(running, requested);
  const finalizers = finalizersFor(resource, metadata, options.propagationPolicy);
  const before = metadata.finalizers ?? [];
  const sameFinalizers =
    finalizers.length === before.length && finalizers.every((name) => before.includes(name));
  if (running === grace && sameFinalizers) return { marked: object, changed: false };
  const marked: KubernetesObject = {
    ...object,
    metadata: {
      ...metadata,
      finalizers: [...finalizers],
      deletionTimestamp:
        metadata.deletionTimestamp !== undefined && running === grace
          ? metadata.deletionTimestamp
          : timestamp(now + grace * 1000),
      deletionGracePeriodSeconds: grace,
    },
  };
  if (finalizers.length === 0) delete marked.metadata.finalizers;
  if (running === undefined) {
    if (metadata.generation !== undefined) marked.metadata.generation = metadata.generation + 1;
    resource.strategy.prepareForDelete?.(marked);
  }
  return { marked, changed: true };
}

export function createDelete(dependencies: { readonly admitter: Admitter; now(): number }): Delete {
  async function deleteOnce(
    context: WriteContext,
    entry: Entry,
    options: DeleteOptions,
  ): Promise<DeleteResult> {
    const { resource, store } = context.endpoint;
    const object = decodeEntry(resource, context.version, entry);
    checkPreconditions(resource, object.metadata, options);
    resource.strategy.validateDelete?.(object);
    await dependencies.admitter.delete(context, object);
    const { marked, changed } = mark(resource, object, options, dependencies.now());
    const write = { key: entry.key, expect: entry.revision };
    if (isFree(resource, marked)) {
      if (context.dryRun) return { outcome: 'gone', object: entry };
      const deleted = await store.write({ ...write, bytes: undefined, attributes: entry.attributes });
      return { outcome: 'gone', object: deleted };
    }
    if (!changed) return { outcome: 'pending', object: entry };
    const attributes = attributesOf(resource, marked);
    const bytes = encodeStored(marked);
    if (context.dryRun)
      return { outcome: 'pending', object: { bytes, attributes, revision: entry.revision } };
    return { outcome: 'pending', object: await store.write({ ...write, bytes, attributes }) };
  }

  return async (context, name, options) => {
    const reference = { namespace: context.namespace, name };
    const { result } = await onNewest(context.endpoint, reference, {
      attempt: async (entry) => {
        const done = await deleteOnce(context, entry, options);
        return { result: done, revision: done.object.revision };
      },
      attempts,
    });
    return result;
  };
}
