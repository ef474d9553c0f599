/**
 * Field ownership of one kind: what an ordinary write does to managedFields, and server-side apply. Pure: objects go in, new
 * objects come out.
 */
import type { KubernetesObject, ManagedFieldsEntry, StatusCause } from '../../openapi/meta.js';
import type { Definitions } from '../../openapi/schema.js';
import { omit } from '../codec/omit.js';
import { sharedFields } from '../codec/shared-fields.js';
import { ApiError, badRequest } from '../errors/api-error.js';
import { createdFields } from './created-fields.js';
import { FieldSet, formatPath } from './field-set.js';
import {
  capOwners,
  decodeOwners,
  decodeOwnOwners,
  ownerKey,
  setManagedFields,
  type ManagerId,
  type Owner,
  type Owners,
} from './managed-fields.js';
import { mergeConfiguration } from './configuration.js';
import { TypeTree, type FieldType } from './type-tree.js';
import {
  compare,
  deepEqual,
  fieldsOf,
  ListKeyError,
  merge,
  removeFields,
  withNamedParents,
} from './typed-value.js';

export interface WriteContext {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string | undefined;
  /** RFC 3339 with seconds. */
  readonly now: string;
}

/** Fields that belong to nobody: the server's own, and the identity of the object. */
const unowned = FieldSet.fromPaths([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
]);

const statusFields = FieldSet.fromPaths([['f:status']]);
const allButStatus = FieldSet.fromPaths([['f:spec'], ['f:metadata']]);

export interface FieldManagerOptions {
  readonly definitions: Definitions;
  /** Full name of the kind's definition. */
  readonly definition: string;
  /** Whether status is written through a subresource of its own, so that neither write can own the other's fields. */
  readonly separateStatus: boolean;
}

export class FieldManager {
  private readonly type: FieldType;

  constructor(private readonly options: FieldManagerOptions) {
    this.type = new TypeTree(options.definitions).root(options.definition);
  }

  /**
   * Sets `updated.metadata.managedFields` for a write that turned `live` (undefined: a create) into `updated`. Entries that
   * the client sent win over the live ones; an empty list, or one empty entry, gives up tracking.
   */
  update(live: KubernetesObject | undefined, updated: KubernetesObject, context: WriteContext): void {
    const owners = ownersForUpdate(live, updated, context);
    if (owners.size === 0 && live !== undefined) {
      setManagedFields(updated, owners);
      return;
    }
    try {
      if (owners.size === 0 && context.subresource === undefined) {
        this.own(updated, context);
        return;
      }
      setManagedFields(updated, capOwners(this.afterUpdate(bare(live), bare(updated), owners, context)));
    } catch (error) {
      if (!(error instanceof ListKeyError)) throw error;
      // Fields in a list that has an item twice can not be told apart: nobody owns any, but the write is good.
      setManagedFields(updated, new Map());
    }
  }

  /** A new object of which nobody owns anything yet. */
  private own(created: KubernetesObject, context: WriteContext): void {
    const id = managerId('Update', context);
    const object = this.options.separateStatus ? omit(created as { status?: unknown }, 'status') : created;
    const fields = sharedFields.parse(createdFields(this.type, object, unowned));
    const owner = { id, fields: FieldSet.fromOwnFieldsV1(fields), time: context.now };
    setManagedFields(created, new Map([[ownerKey(id), owner]]));
  }

  private afterUpdate(live: unknown, updated: unknown, owners: Owners, context: WriteContext): Owners {
    const id = managerId('Update', context);
    const changes = compare(this.type, live, updated);
    const changed = changes.added.union(changes.modified);
    const taken = this.ownable(changed, context.subresource);
    const result = new Map<string, Owner>();
    for (const [key, owner] of owners) {
      // What the writer changed is no longer another's, not even in part; its own entry grows below.
      const lost = key === ownerKey(id) ? changes.removed : changes.removed.union(changed);
      const fields = owner.fields.difference(lost);
      if (!fields.isEmpty) result.set(key, { ...owner, fields });
    }
    if (!taken.isEmpty) {
      const previous = result.get(ownerKey(id))?.fields ?? FieldSet.empty;
      result.set(ownerKey(id), { id, fields: previous.union(taken), time: context.now });
    }
    return result;
  }

  /**
   * Server-side apply: `applied` is all that the manager wants. Returns the object to store, its managedFields set. Throws
   * Conflict with a cause per field that another manager holds with another value, unless `force`.
   */
  apply(
    live: KubernetesObject | undefined,
    applied: KubernetesObject,
    context: WriteContext & { readonly force: boolean },
  ): KubernetesObject {
    if (applied.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
    if (applied.apiVersion !== context.apiVersion) {
      throw badRequest(
        `Incorrect version specified in apply patch. Specified patch version: ${applied.apiVersion}, expected: ${context.apiVersion}`,
      );
    }
    try {
      return this.applyTo(live, applied, context);
    } catch (error) {
      if (error instanceof ListKeyError)
        throw badRequest(`failed to create typed patch object: ${error.message}`);
      throw error;
    }
  }

  /** Throws `ConfigurationError`. */
  merge(object: KubernetesObject, configuration: object): object {
    return mergeConfiguration(this.type, object, configuration);
  }

  private applyTo(
    live: KubernetesObject | undefined,
    applied: KubernetesObject,
    context: WriteContext & { readonly force: boolean },
  ): KubernetesObject {
    const before = bare(live) ?? { apiVersion: applied.apiVersion, kind: applied.kind, metadata: {} };
    const owners = this.ownersForApply(live, before, context);
    const id = managerId('Apply', context);
    const previous = owners.get(ownerKey(id));
    const wanted = this.ownable(fieldsOf(this.type, applied), context.subresource);
    const withWanted = new Map(owners);
    withWanted.set(ownerKey(id), { id, fields: wanted, time: previous?.time });

    const merged = this.prune(merge(this.type, before, applied), withWanted, previous);
    const changes = compare(this.type, before, merged);
    const changed = changes.added.union(changes.modified);
    const result = new Map<string, Owner>();
    const conflicts: { owner: Owner; fields: FieldSet }[] = [];
    for (const [key, owner] of withWanted) {
      if (key === ownerKey(id)) continue;
      const conflicting = owner.fields.intersection(changed);
      if (!conflicting.isEmpty) conflicts.push({ owner, fields: conflicting });
      const fields = owner.fields.difference(conflicting).difference(changes.removed);
      if (!fields.isEmpty) result.set(key, { ...owner, fields });
    }
    if (conflicts.length > 0 && !context.force) throw conflictError(conflicts);

    const noop = deepEqual(before, merged);
    const time = noop ? previous?.time : context.now;
    if (!wanted.isEmpty) result.set(ownerKey(id), { id, fields: wanted, time });
    const object = structuredClone(merged) as KubernetesObject;
    setManagedFields(object, capOwners(result));
    return object;
  }

  /** Takes away what the manager set before and no longer wants, except where others hold it. */
  private prune(merged: unknown, owners: Owners, previous: Owner | undefined): unknown {
    if (previous === undefined || previous.fields.isEmpty) return merged;
    const all = (fields: FieldSet): FieldSet => withNamedParents(this.type, fields);
    const dropped = all(previous.fields);
    const pruned = removeFields(this.type, merged, dropped);

    const mergedFields = all(fieldsOf(this.type, merged));
    const held = [...owners.values()].reduce((set, owner) => set.union(owner.fields), FieldSet.empty);
    const kept = all(fieldsOf(this.type, pruned)).union(all(held)).union(all(unowned));
    const removable = mergedFields.difference(kept);
    // Never take what the manager did not hold itself, even if nobody does.
    return removeFields(this.type, merged, removable.intersection(dropped));
  }

  private ownersForApply(live: KubernetesObject | undefined, before: unknown, context: WriteContext): Owners {
    const entries = live?.metadata.managedFields ?? [];
    const owners = decodeOwnOwners(entries);
    if (owners.size > 0 || live === undefined) return owners;
    // An object that nobody tracked so far: all its fields belong to whoever was there before the first apply.
    return this.afterUpdate({ apiVersion: live.apiVersion, kind: live.kind, metadata: {} }, before, owners, {
      ...context,
      manager: 'before-first-apply',
      subresource: undefined,
    });
  }

  /** Takes out what this write can not own. */
  private ownable(fields: FieldSet, subresource: string | undefined): FieldSet {
    const owned = fields.difference(unowned);
    if (!this.options.separateStatus) return owned;
    return owned.recursiveDifference(subresource === 'status' ? allButStatus : statusFields);
  }
}

function managerId(operation: ManagerId['operation'], context: WriteContext): ManagerId {
  const { manager, apiVersion, subresource = '' } = context;
  return { manager, operation, apiVersion, subresource };
}

function ownersForUpdate(
  live: KubernetesObject | undefined,
  updated: KubernetesObject,
  context: WriteContext,
): Owners {
  const known = live?.metadata.managedFields ?? [];
  const current = (): Owners => decodeOwnOwners(known);
  // A client may send anything here, null included.
  const sent = updated.metadata.managedFields as readonly Partial<ManagedFieldsEntry>[] | null | undefined;
  if (context.subresource !== undefined || sent === undefined || sent === null) return current();
  if (known.length > 0 && deepEqual(sent, known)) return current();
  if (isReset(sent)) return new Map<string, Owner>();
  try {
    return decodeOwners(sent);
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) return current();
    throw error;
  }
}

function isReset(entries: readonly Partial<ManagedFieldsEntry>[]): boolean {
  const [first] = entries;
  return first === undefined || (entries.length === 1 && Object.keys(first).length === 0);
}

/** The object without its managedFields; the caller's stays as it is. */
function bare(object: KubernetesObject | undefined): unknown {
  if (object === undefined) return undefined;
  const metadata = { ...object.metadata };
  delete metadata.managedFields;
  return { ...object, metadata };
}

function conflictError(conflicts: readonly { owner: Owner; fields: FieldSet }[]): ApiError {
  const causes: StatusCause[] = [];
  const sorted = [...conflicts].sort((a, b) => (ownerKey(a.owner.id) < ownerKey(b.owner.id) ? -1 : 1));
  for (const { owner, fields } of sorted) {
    for (const path of fields.paths()) {
      causes.push({
        reason: 'FieldManagerConflict',
        message: `conflict with ${describe(owner)}`,
        field: formatPath(path),
      });
    }
  }
  return new ApiError('Conflict', conflictMessage(causes), { causes });
}

function describe({ id, time }: Owner): string {
  const subresource = id.subresource === '' ? '' : ` with subresource "${id.subresource}"`;
  if (id.operation === 'Apply') return `"${id.manager}"${subresource}`;
  return `"${id.manager}"${subresource} using ${id.apiVersion}${time === undefined ? '' : ` at ${time}`}`;
}

function conflictMessage(causes: readonly StatusCause[]): string {
  const head = `Apply failed with ${causes.length} conflict${causes.length === 1 ? '' : 's'}: `;
  const byManager = new Map<string, string[]>();
  for (const { message = '', field = '' } of causes)
    byManager.set(message, [...(byManager.get(message) ?? []), field]);
  const lines = [...byManager].map(([message, fields]) =>
    fields.length === 1
      ? `${message}: ${fields[0] ?? ''}`
      : `${message}:\n${fields.map((field) => `- ${field}`).join('\n')}`,
  );
  return (
    head +
    (lines.length === 1
      ? (lines[0] ?? '')
      : `conflicts ${lines.join('\n')}`.replaceAll('conflicts conflict', 'conflict'))
  );
}
