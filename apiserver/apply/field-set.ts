import { omit } from '../codec/omit.js';
import type { FieldsV1 } from '../codec/shared-fields.js';

/**
 * A set of fields of one object, as managedFields records it (FieldsV1). A path element is kept in its wire form:
 * `f:<name>` a field, `k:<json>` an item of a list map by its keys, `v:<json>` an item of a set by its value. A node may be a
 * member itself, have children, or both; `.` is how the wire form says "both".
 *
 * Sets are immutable: every operation returns a new one, sharing what did not change, or the same if nothing did. A set that
 * was read from its wire form is decoded a level at a time, as far as somebody looks, and written as it was read: most writes
 * touch few of the fields that an object's managers hold.
 */
export class FieldSet {
  static readonly empty = new FieldSet({ members: new Set(), children: new Map() }, undefined);

  #content: Content | undefined;
  #wire: FieldsV1 | undefined;

  /** At least one of the two. */
  private constructor(content: Content | undefined, wire: FieldsV1 | undefined) {
    this.#content = content;
    this.#wire = wire;
  }

  /** Drops children that hold nothing. */
  static of(members: ReadonlySet<string>, children: ReadonlyMap<string, FieldSet>): FieldSet {
    const kept = new Map([...children].filter(([, child]) => !child.isEmpty));
    return members.size === 0 && kept.size === 0
      ? FieldSet.empty
      : new FieldSet({ members, children: kept }, undefined);
  }

  static fromPaths(paths: Iterable<readonly string[]>): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  get members(): ReadonlySet<string> {
    return this.#decoded.members;
  }

  get children(): ReadonlyMap<string, FieldSet> {
    return this.#decoded.children;
  }

  get #decoded(): Content {
    return (this.#content ??= decodeLevel(this.#wire ?? {}, (child) => new FieldSet(undefined, child)));
  }

  get isEmpty(): boolean {
    if (this.#content === undefined) return !hasElements(this.#wire ?? {});
    return this.#content.members.size === 0 && this.#content.children.size === 0;
  }

  child(element: string): FieldSet {
    return this.children.get(element) ?? FieldSet.empty;
  }

  has(path: readonly string[]): boolean {
    const last = path.at(-1);
    if (last === undefined) return false;
    return path
      .slice(0, -1)
      .reduce<FieldSet>((set, element) => set.child(element), this)
      .members.has(last);
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty) return other;
    if (other.isEmpty) return this;
    const children = new Map(this.children);
    for (const [element, child] of other.children) children.set(element, this.child(element).union(child));
    return FieldSet.of(new Set([...this.members, ...other.members]), children);
  }

  intersection(other: FieldSet): FieldSet {
    return this.#filter(
      (member) => other.members.has(member),
      (element, child) => child.intersection(other.child(element)),
    );
  }

  /** What is in this set and not, as the same path, in the other. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return this.#filter(
      (member) => !other.members.has(member),
      (element, child) => child.difference(other.child(element)),
    );
  }

  /** As `difference`, and everything below a member of the other goes too. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return this.#filter(
      (member) => !other.members.has(member),
      (element, child) =>
        other.members.has(element) ? FieldSet.empty : child.recursiveDifference(other.child(element)),
    );
  }

  #filter(
    keeps: (member: string) => boolean,
    reduce: (element: string, child: FieldSet) => FieldSet,
  ): FieldSet {
    const members = [...this.members].filter(keeps);
    const children = new Map<string, FieldSet>();
    let isSame = members.length === this.members.size;
    for (const [element, child] of this.children) {
      const reduced = reduce(element, child);
      children.set(element, reduced);
      isSame &&= reduced === child;
    }
    return isSame ? this : FieldSet.of(new Set(members), children);
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.members.size !== other.members.size || this.children.size !== other.children.size) return false;
    for (const member of this.members) if (!other.members.has(member)) return false;
    for (const [element, child] of this.children) {
      const counterpart = other.children.get(element);
      if (counterpart === undefined || !child.equals(counterpart)) return false;
    }
    return true;
  }

  *paths(prefix: readonly string[] = []): Generator<readonly string[]> {
    const elements = new Set([...this.members, ...this.children.keys()]);
    for (const element of [...elements].sort()) {
      const path = [...prefix, element];
      if (this.members.has(element)) yield path;
      yield* this.child(element).paths(path);
    }
  }

  /** Shared: do not change it. */
  toFieldsV1(): FieldsV1 {
    return withoutSelf(this.#encoded);
  }

  /** As of a node of a larger set: whether there is a `.` means nothing. */
  get #encoded(): FieldsV1 {
    return (this.#wire ??= FieldSet.#encode(this.#decoded));
  }

  static #encode({ members, children }: Content): FieldsV1 {
    const result: Record<string, unknown> = {};
    const elements = new Set([...members, ...children.keys()]);
    for (const element of [...elements].sort()) {
      const below = (children.get(element) ?? FieldSet.empty).#encoded;
      result[element] = members.has(element) && hasElements(below) ? withSelf(below) : withoutSelf(below);
    }
    return result;
  }

  /** Throws a `TypeError` that names the first path element it can not read. */
  static fromFieldsV1(value: unknown): FieldSet {
    const members = new Set<string>();
    const children = new Map<string, FieldSet>();
    for (const [element, child] of Object.entries(asRecord(value))) {
      if (element === '.') continue;
      if (!/^[fkvi]:/.test(element)) throw new TypeError(`"${element}" is not a path element`);
      const node = asRecord(child);
      const keys = Object.keys(node);
      if (keys.length === 0 || '.' in node) members.add(canonicalElement(element));
      if (keys.length > 0) children.set(canonicalElement(element), FieldSet.fromFieldsV1(node));
    }
    return FieldSet.of(members, children);
  }

  /** For what `toFieldsV1` wrote: nothing is checked. */
  static fromOwnFieldsV1(wire: FieldsV1): FieldSet {
    return hasElements(wire) ? new FieldSet(undefined, wire) : FieldSet.empty;
  }
}

interface Content {
  readonly members: ReadonlySet<string>;
  readonly children: ReadonlyMap<string, FieldSet>;
}

function decodeLevel(wire: FieldsV1, childOf: (wire: FieldsV1) => FieldSet): Content {
  const members = new Set<string>();
  const children = new Map<string, FieldSet>();
  for (const element in wire) {
    if (element === '.') continue;
    const below = wire[element] as FieldsV1;
    const isParent = hasElements(below);
    if (!isParent || '.' in below) members.add(element);
    if (isParent) children.set(element, childOf(below));
  }
  return { members, children };
}

/** Whether anything is below the node. */
function hasElements(wire: FieldsV1): boolean {
  for (const element in wire) if (element !== '.') return true;
  return false;
}

const withSelf = (wire: FieldsV1): FieldsV1 => ('.' in wire ? wire : { '.': {}, ...wire });

const withoutSelf = (wire: FieldsV1): FieldsV1 => ('.' in wire ? omit(wire, '.') : wire);

/** Collects paths, one by one. */
export class FieldSetBuilder {
  private readonly members = new Set<string>();
  private readonly children = new Map<string, FieldSetBuilder>();

  insert(path: readonly string[]): void {
    const [head, ...rest] = path;
    if (head === undefined) return;
    if (rest.length === 0) this.members.add(head);
    else this.at(head).insert(rest);
  }

  /** The builder of everything below an element; paths inserted there need no prefix. */
  at(element: string): FieldSetBuilder {
    let child = this.children.get(element);
    if (child === undefined) {
      child = new FieldSetBuilder();
      this.children.set(element, child);
    }
    return child;
  }

  build(): FieldSet {
    return FieldSet.of(
      this.members,
      new Map([...this.children].map(([element, child]) => [element, child.build()])),
    );
  }
}

export const fieldElement = (name: string): string => `f:${name}`;

/** Keys in alphabetical order, so that equal keys give equal elements. */
export function keyElement(keys: Readonly<Record<string, unknown>>): string {
  return `k:${JSON.stringify(Object.fromEntries(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1))))}`;
}

export const valueElement = (value: unknown): string => `v:${JSON.stringify(value)}`;

/** The path as Kubernetes prints it in conflicts: `.spec.list[name="a"].value`. */
export function formatPath(path: readonly string[]): string {
  return path.map(formatElement).join('');
}

function formatElement(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const keys = Object.entries(asRecord(JSON.parse(rest)));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

function canonicalElement(element: string): string {
  if (element.startsWith('k:')) return keyElement(asRecord(JSON.parse(element.slice(2))));
  if (element.startsWith('v:')) return valueElement(JSON.parse(element.slice(2)));
  return element;
}

function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('a field set is an object');
  return value as Record<string, unknown>;
}
