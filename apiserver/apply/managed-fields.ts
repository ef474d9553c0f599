/** Reading and writing `metadata.managedFields`: who set which fields, by which operation, when. */
import type { KubernetesObject, ManagedFieldsEntry } from '../../openapi/meta.js';
import type { FieldsV1 } from '../codec/shared-fields.js';
import { FieldSet } from './field-set.js';

/** Who holds fields. Two writes of one manager count as one entry only if all four agree. */
export interface ManagerId {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

export interface Owner {
  readonly id: ManagerId;
  readonly fields: FieldSet;
  readonly time: string | undefined;
}

/** Owners by `ownerKey`. */
export type Owners = ReadonlyMap<string, Owner>;

/** At most so many Update entries: the oldest ones are folded into one named `ancient-changes`. */
const maxUpdateEntries = 10;

export const ownerKey = (id: ManagerId): string =>
  JSON.stringify([id.operation, id.manager, id.apiVersion, id.subresource]);

/** Of entries that this server wrote. */
export function decodeOwnOwners(entries: readonly ManagedFieldsEntry[]): Owners {
  return ownersOf(entries, (fields) => FieldSet.fromOwnFieldsV1(fields));
}

/** Throws `TypeError` for entries that are no field sets. */
export function decodeOwners(entries: readonly Partial<ManagedFieldsEntry>[]): Owners {
  return ownersOf(entries, (fields) => FieldSet.fromFieldsV1(fields));
}

function ownersOf(
  entries: readonly Partial<ManagedFieldsEntry>[],
  decode: (fields: FieldsV1) => FieldSet,
): Owners {
  const owners = new Map<string, Owner>();
  for (const entry of entries) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      throw new TypeError(`operation must be Apply or Update, not ${JSON.stringify(entry.operation)}`);
    }
    if (entry.fieldsType !== 'FieldsV1') throw new TypeError('fieldsType must be FieldsV1');
    const id: ManagerId = {
      manager: entry.manager ?? '',
      operation: entry.operation,
      apiVersion: entry.apiVersion ?? '',
      subresource: entry.subresource ?? '',
    };
    owners.set(ownerKey(id), { id, fields: decode(entry.fieldsV1 ?? {}), time: entry.time });
  }
  return owners;
}

/** Sorted as Kubernetes sorts them: operation, time (none first), manager, version, subresource. */
export function encodeOwners(owners: Owners): ManagedFieldsEntry[] {
  return [...owners.values()]
    .filter((owner) => !owner.fields.isEmpty)
    .sort((a, b) => order(a) - order(b) || compareText(sortKey(a), sortKey(b)))
    .map(({ id, fields, time }) => ({
      manager: id.manager,
      operation: id.operation,
      apiVersion: id.apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields.toFieldsV1(),
      ...(id.subresource === '' ? {} : { subresource: id.subresource }),
    }));
}

/** Sets an object's managedFields, or takes them away when nobody owns anything. */
export function setManagedFields(object: KubernetesObject, owners: Owners): void {
  const entries = encodeOwners(owners);
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}

/** Folds the oldest Update entries into one per version once there are too many. */
export function capOwners(owners: Owners): Owners {
  const updates = [...owners].filter(([, owner]) => owner.id.operation === 'Update');
  if (updates.length <= maxUpdateEntries) return owners;
  const oldest = updates
    .sort(([, a], [, b]) => compareText(sortKey(a), sortKey(b)))
    .slice(0, updates.length - maxUpdateEntries + 1);
  const capped = new Map(owners);
  for (const [key, owner] of oldest) {
    capped.delete(key);
    const id: ManagerId = {
      manager: 'ancient-changes',
      operation: 'Update',
      apiVersion: owner.id.apiVersion,
      subresource: '',
    };
    const bucket = capped.get(ownerKey(id));
    capped.set(ownerKey(id), {
      id,
      fields: owner.fields.union(bucket?.fields ?? FieldSet.empty),
      time: owner.time,
    });
  }
  return capped;
}

const order = (owner: Owner): number => (owner.id.operation === 'Apply' ? 0 : 1);
const sortKey = ({ id, time }: Owner): string =>
  [time ?? '', id.manager, id.apiVersion, id.subresource].join('\u0000');
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
