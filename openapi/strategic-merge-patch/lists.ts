/** Lists that strategic merge patch merges, and the order that their items then have. */
import { isObject, StrategicMergePatchError, type JsonObject, type MergeItem } from './patch.js';

/** Tells items apart; undefined for an item that has no identity, which is then left alone. */
type Identity = (item: unknown) => string | undefined;

/** Numbers and texts that read alike are the same: clients write ports both ways. */
function scalarIdentity(item: unknown): string | undefined {
  switch (typeof item) {
    case 'string':
    case 'number':
    case 'boolean':
      return String(item);
    default:
      return undefined;
  }
}

/** Of items that must have an identity, as those of a patch. */
function identities(items: readonly unknown[], identity: Identity, path: string, why: string): string[] {
  return items.map((item, index) => {
    const id = identity(item);
    if (id === undefined) throw new StrategicMergePatchError(`${path}[${index}]`, why);
    return id;
  });
}

/** A set: what is deleted goes, what is new is added. */
export function mergeScalarList(
  current: readonly unknown[],
  patch: {
    readonly value: readonly unknown[] | undefined;
    readonly order: readonly unknown[] | undefined;
    readonly deletions: readonly unknown[] | undefined;
  },
  path: string,
): readonly unknown[] {
  const idsOf = (items: readonly unknown[] = []): string[] =>
    identities(items, scalarIdentity, path, 'an item of this list must be a string, a number or a boolean');
  const deleted = new Set<string | undefined>(idsOf(patch.deletions));
  const merged = current.filter((item) => !deleted.has(scalarIdentity(item)));
  const known = new Set(merged.map(scalarIdentity));
  const wanted = idsOf(patch.value);
  patch.value?.forEach((item, index) => {
    const id = wanted[index];
    if (known.has(id)) return;
    known.add(id);
    merged.push(item);
  });
  const order = patch.order === undefined ? wanted : checkOrder(wanted, idsOf(patch.order), path);
  return arrange(merged, order, current, scalarIdentity);
}

/** Objects that `mergeKey` tells apart: those of the patch are merged into those of the same key, or added. */
export function mergeObjectList(
  current: readonly unknown[],
  patch: { readonly value: readonly unknown[] | undefined; readonly order: readonly unknown[] | undefined },
  mergeKey: string,
  merge: MergeItem,
  path: string,
): readonly unknown[] {
  const identity: Identity = (item) => (isObject(item) ? scalarIdentity(item[mergeKey]) : undefined);
  const idsOf = (items: readonly unknown[]): string[] =>
    identities(
      items,
      identity,
      path,
      `an item of this list must be an object with the merge key ${mergeKey}`,
    );
  const { changes, deleted, replaces } = sortOut(patch.value ?? [], identity, mergeKey, path);
  const wanted = idsOf(changes);
  const merged = replaces ? [] : current.filter((item) => !deleted.has(identity(item)));
  const places = placesOf(merged.map(identity));
  changes.forEach((change, index) => {
    const id = wanted[index];
    const place = places.get(id) ?? merged.length;
    const target = merged[place];
    merged[place] = merge(isObject(target) ? target : {}, change, `${path}[${mergeKey}=${id ?? ''}]`);
    places.set(id, place);
  });
  const order = patch.order === undefined ? wanted : checkOrder(wanted, idsOf(patch.order), path);
  return arrange(merged, order, replaces ? [] : current, identity);
}

interface Changes {
  readonly changes: readonly JsonObject[];
  readonly deleted: ReadonlySet<string | undefined>;
  /** Whether nothing of the list as it was stays. */
  readonly replaces: boolean;
}

/** Splits the items of a patch into changes and directives. */
function sortOut(items: readonly unknown[], identity: Identity, mergeKey: string, path: string): Changes {
  const changes: JsonObject[] = [];
  const deleted = new Set<string | undefined>();
  let replaces = false;
  items.forEach((item, index) => {
    const place = `${path}[${index}]`;
    if (!isObject(item)) throw new StrategicMergePatchError(place, 'an item of this list must be an object');
    switch (item['$patch']) {
      case undefined:
        changes.push(item);
        break;
      case 'replace':
        replaces = true;
        break;
      case 'delete': {
        const id = identity(item);
        if (id === undefined)
          throw new StrategicMergePatchError(place, `an item to delete must have the merge key ${mergeKey}`);
        deleted.add(id);
        break;
      }
      default:
        throw new StrategicMergePatchError(
          place,
          `$patch must be "replace" or "delete", but it is ${JSON.stringify(item['$patch'])}`,
        );
    }
  });
  return { changes, deleted, replaces };
}

/** `order`, if the items of the patch are in it and in that order. */
function checkOrder(wanted: readonly string[], order: readonly string[], path: string): readonly string[] {
  const places = placesOf(order);
  let last = -1;
  for (const id of wanted) {
    const place = places.get(id) ?? -1;
    if (place < last || place === -1)
      throw new StrategicMergePatchError(
        path,
        `the items of the patch must be in $setElementOrder, and in that order, but ${JSON.stringify(id)} is not`,
      );
    last = place;
  }
  return order;
}

/** Where each identity is found first. What has none is nowhere. */
function placesOf(ids: readonly (string | undefined)[]): Map<string | undefined, number> {
  const places = new Map<string | undefined, number>();
  ids.forEach((id, index) => {
    if (id !== undefined && !places.has(id)) places.set(id, index);
  });
  return places;
}

/**
 * The items that `order` names, in that order, and the others as they were, each before the first of the named ones that it
 * preceded in `current`. New items so come before what they were not placed against.
 */
function arrange(
  items: readonly unknown[],
  order: readonly string[],
  current: readonly unknown[],
  identity: Identity,
): readonly unknown[] {
  const wanted = placesOf(order);
  const before = placesOf(current.map(identity));
  const place = (places: ReadonlyMap<string | undefined, number>, item: unknown): number | undefined =>
    places.get(identity(item));
  const others = items.filter((item) => place(wanted, item) === undefined);
  const named = items
    .filter((item) => place(wanted, item) !== undefined)
    .sort((a, b) => (place(wanted, a) ?? 0) - (place(wanted, b) ?? 0));
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const limit = place(before, item) ?? -1;
    for (; next < others.length && (place(before, others[next]) ?? Infinity) < limit; next++)
      result.push(others[next]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}
