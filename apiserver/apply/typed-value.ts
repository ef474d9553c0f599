/**
 * What can be asked of two states of an object once its type is known: which fields a value sets, what differs, the merge of
 * the two, and a value without some of its fields. Values are plain JSON and never changed.
 */
import { FieldSet, FieldSetBuilder, fieldElement, keyElement, valueElement } from './field-set.js';
import { deduce, type FieldType } from './type-tree.js';

type JsonMap = Record<string, unknown>;
type MapType = Extract<FieldType, { kind: 'map' }>;
type ListType = Extract<FieldType, { kind: 'list' }>;

/** A list that should be a map or set has an item without keys, or two alike. */
export class ListKeyError extends Error {
  override readonly name = 'ListKeyError';
  constructor(
    /** Where the list is: `.spec.list`. */
    readonly path: string,
    problem: string,
  ) {
    super(`${path}: ${problem}`);
  }
}

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Every field that the value sets. */
export function fieldsOf(type: FieldType, value: unknown): FieldSet {
  const builder = new FieldSetBuilder();
  collect(type, value, [], builder);
  return builder.build();
}

function collect(declared: FieldType, value: unknown, path: readonly string[], into: FieldSetBuilder): void {
  const type = deduce(declared, value);
  const shape = shapeOf(type, value);
  if (shape === undefined) {
    into.insert(path);
    return;
  }
  if (shape.kind === 'map') {
    for (const [key, item] of Object.entries(shape.value)) {
      const below = [...path, fieldElement(key)];
      const known = shape.type.field(key);
      collect(known ?? shape.type.element, item, below, into);
      if (known === undefined || isEmptyMap(item)) into.insert(below);
    }
    return;
  }
  for (const [element, item] of itemsByElement(shape.type, shape.value, path)) {
    const below = [...path, element];
    collect(shape.type.item, item, below, into);
    into.insert(below);
  }
}

/** What changed from `before` to `after`; a whole branch that came or went is listed with all its fields. */
export function compare(type: FieldType, before: unknown, after: unknown): Comparison {
  const result = {
    added: new FieldSetBuilder(),
    modified: new FieldSetBuilder(),
    removed: new FieldSetBuilder(),
  };
  compareAt(type, before, after, [], result);
  return { added: result.added.build(), modified: result.modified.build(), removed: result.removed.build() };
}

interface ComparisonBuilder {
  readonly added: FieldSetBuilder;
  readonly modified: FieldSetBuilder;
  readonly removed: FieldSetBuilder;
}

function compareAt(
  declared: FieldType,
  before: unknown,
  after: unknown,
  path: readonly string[],
  into: ComparisonBuilder,
): void {
  if (deepEqual(before, after)) return;
  const left = shapeOf(deduce(declared, before), before);
  const right = shapeOf(deduce(declared, after), after);
  const leaf = isBare(left) && isBare(right);
  // A deduced value may turn from one thing into another: then it changed itself, and its fields came or went.
  const turned = declared.kind === 'deduced' && left?.kind !== right?.kind;
  if (before === undefined) into.added.insert(path);
  else if (after === undefined) into.removed.insert(path);
  else if (leaf || turned) into.modified.insert(path);
  if (leaf) return;
  if (left !== undefined && right !== undefined && left.kind !== right.kind) {
    compareAt(declared, before, undefined, path, into);
    compareAt(declared, undefined, after, path, into);
    return;
  }
  const children = left ?? right;
  if (children?.kind === 'map') {
    const [old, now] = [mapOf(left), mapOf(right)];
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const type = children.type.field(key) ?? children.type.element;
      compareAt(type, own(old, key), own(now, key), [...path, fieldElement(key)], into);
    }
  } else if (children?.kind === 'list') {
    const [old, now] = [listOf(left, path), listOf(right, path)];
    for (const element of new Set([...old.keys(), ...now.keys()])) {
      compareAt(children.type.item, old.get(element), now.get(element), [...path, element], into);
    }
  }
}

/** `over` laid over `base`: fields of `over` win, list maps and sets merge by key, everything else stays. */
export function merge(declared: FieldType, base: unknown, over: unknown): unknown {
  return mergeAt(declared, base, over, []);
}

function mergeAt(declared: FieldType, base: unknown, over: unknown, path: readonly string[]): unknown {
  if (over === undefined) return base;
  const right = shapeOf(deduce(declared, over), over);
  const left = shapeOf(deduce(declared, base), base);
  if (isBare(left) && isBare(right)) return over;
  // A null where the schema has a map or list says nothing about its items.
  if (right === undefined) return over === null && declared.kind !== 'deduced' ? base : over;
  const shape = right;
  if (shape.kind === 'map') {
    const [old, now] = [mapOf(left), mapOf(right)];
    const merged: JsonMap = {};
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const type = shape.type.field(key) ?? shape.type.element;
      merged[key] = mergeAt(type, own(old, key), own(now, key), [...path, fieldElement(key)]);
    }
    return merged;
  }
  return mergeLists(shape.type, listOf(left, path), listOf(right, path), path);
}

/**
 * Items of `over` keep their order; an item only in `base` stays between the neighbours it had. (A shared item that stands
 * elsewhere in `over` waits for its turn there.)
 */
function mergeLists(
  type: ListType,
  base: ReadonlyMap<string, unknown>,
  over: ReadonlyMap<string, unknown>,
  path: readonly string[],
): unknown[] {
  const merged: unknown[] = [];
  const overOrder = [...over.keys()];
  const sharedOrder = overOrder.filter((element) => base.has(element));
  let nextOver = 0;
  let nextShared = 0;
  const takeOver = (end: number): void => {
    for (; nextOver < end; nextOver++) {
      const element = overOrder[nextOver] ?? '';
      merged.push(mergeAt(type.item, base.get(element), over.get(element), [...path, element]));
    }
  };
  for (const [element, item] of base) {
    if (!over.has(element)) merged.push(item);
    else if (sharedOrder[nextShared] === element) {
      takeOver(overOrder.indexOf(element) + 1);
      nextShared++;
    }
  }
  takeOver(overOrder.length);
  return merged;
}

/** The value without the members of `fields` and everything below them. A branch that becomes empty stays, empty. */
export function removeFields(declared: FieldType, value: unknown, fields: FieldSet): unknown {
  const shape = shapeOf(deduce(declared, value), value);
  if (shape === undefined || fields.isEmpty) return value;
  if (shape.kind === 'map') {
    const kept: JsonMap = {};
    for (const [key, item] of Object.entries(shape.value)) {
      const element = fieldElement(key);
      if (fields.members.has(element)) continue;
      kept[key] = removeFields(shape.type.field(key) ?? shape.type.element, item, fields.child(element));
    }
    return kept;
  }
  const kept: unknown[] = [];
  for (const [element, item] of itemsByElement(shape.type, shape.value, [])) {
    if (fields.members.has(element)) continue;
    kept.push(removeFields(shape.type.item, item, fields.child(element)));
  }
  return kept;
}

/** Adds every named field on the way to a member as a member itself: who owns `.spec.cpu.guest` also holds `.spec`. */
export function withNamedParents(declared: FieldType, fields: FieldSet): FieldSet {
  const type = declared;
  const members = new Set(fields.members);
  const children = new Map<string, FieldSet>();
  for (const [element, child] of fields.children) {
    const below = typeBelow(type, element);
    if (below.named) members.add(element);
    children.set(element, withNamedParents(below.type, child));
  }
  return FieldSet.of(members, children);
}

function typeBelow(type: FieldType, element: string): { type: FieldType; named: boolean } {
  if (type.kind === 'map' && element.startsWith('f:')) {
    const field = type.field(element.slice(2));
    return field === undefined ? { type: type.element, named: false } : { type: field, named: true };
  }
  if (type.kind === 'list' && type.relation !== 'atomic') return { type: type.item, named: false };
  return { type: { kind: 'deduced' }, named: false };
}

type Shape =
  | { readonly kind: 'map'; readonly type: MapType; readonly value: JsonMap }
  | { readonly kind: 'list'; readonly type: ListType; readonly value: readonly unknown[] };

/** How to descend into a value; undefined if it counts as one (scalars, atomic types, a value of the wrong type). */
export function shapeOf(type: FieldType, value: unknown): Shape | undefined {
  if (type.kind === 'map' && !type.atomic && isMap(value)) return { kind: 'map', type, value };
  if (type.kind === 'list' && type.relation !== 'atomic' && Array.isArray(value))
    return { kind: 'list', type, value };
  return undefined;
}

/** Nothing to descend into. */
function isBare(shape: Shape | undefined): boolean {
  return (
    shape === undefined ||
    (shape.kind === 'map' ? Object.keys(shape.value).length === 0 : shape.value.length === 0)
  );
}

const mapOf = (shape: Shape | undefined): JsonMap => (shape?.kind === 'map' ? shape.value : {});

function listOf(shape: Shape | undefined, path: readonly string[]): ReadonlyMap<string, unknown> {
  return shape?.kind === 'list' ? itemsByElement(shape.type, shape.value, path) : new Map<string, unknown>();
}

export function itemsByElement(
  type: ListType,
  items: readonly unknown[],
  path: readonly string[],
): ReadonlyMap<string, unknown> {
  const where = (): string => path.map((element) => `.${element.slice(2)}`).join('');
  const result = new Map<string, unknown>();
  for (const item of items) {
    const element = type.relation === 'map' ? itemKey(type, item, where) : valueElement(item);
    if (result.has(element)) throw new ListKeyError(where(), `duplicate entries for key ${element.slice(2)}`);
    result.set(element, item);
  }
  return result;
}

function itemKey(type: Extract<ListType, { relation: 'map' }>, item: unknown, where: () => string): string {
  if (!isMap(item)) throw new ListKeyError(where(), 'an item of a keyed list is an object');
  const keys: JsonMap = {};
  for (const key of type.keys) {
    const value = own(item, key) ?? own(type.keyDefaults, key);
    if (value !== undefined) keys[key] = value;
  }
  if (Object.keys(keys).length === 0)
    throw new ListKeyError(where(), `an item lacks its key (${type.keys.join(', ')})`);
  return keyElement(keys);
}

function own(map: Readonly<JsonMap>, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isEmptyMap = (value: unknown): boolean =>
  value === null || (isMap(value) && Object.keys(value).length === 0);

/** Equality of JSON values; the order of keys does not count. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]))
  );
}
