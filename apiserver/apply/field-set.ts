/**
 * A set of fields of one object, as managedFields records it (FieldsV1). A path element is kept in its wire form:
 * `f:<name>` a field, `k:<json>` an item of a list map by its keys, `v:<json>` an item of a set by its value. A node may be a
 * member itself, have children, or both; `.` is how the wire form says "both".
 *
 * Sets are immutable: every operation returns a new one, sharing what did not change.
 */
export class FieldSet {
  static readonly empty = new FieldSet(new Set(), new Map());

  private constructor(
    readonly members: ReadonlySet<string>,
    readonly children: ReadonlyMap<string, FieldSet>,
  ) {}

  /** Drops children that hold nothing. */
  static of(members: ReadonlySet<string>, children: ReadonlyMap<string, FieldSet>): FieldSet {
    const kept = new Map([...children].filter(([, child]) => !child.isEmpty));
    return members.size === 0 && kept.size === 0 ? FieldSet.empty : new FieldSet(members, kept);
  }

  static fromPaths(paths: Iterable<readonly string[]>): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  get isEmpty(): boolean {
    return this.members.size === 0 && this.children.size === 0;
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
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.children)
      children.set(element, child.intersection(other.child(element)));
    return FieldSet.of(new Set([...this.members].filter((member) => other.members.has(member))), children);
  }

  /** What is in this set and not, as the same path, in the other. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.children)
      children.set(element, child.difference(other.child(element)));
    return FieldSet.of(new Set([...this.members].filter((member) => !other.members.has(member))), children);
  }

  /** As `difference`, and everything below a member of the other goes too. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.children) {
      if (!other.members.has(element)) children.set(element, child.recursiveDifference(other.child(element)));
    }
    return FieldSet.of(new Set([...this.members].filter((member) => !other.members.has(member))), children);
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

  toFieldsV1(): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const elements = new Set([...this.members, ...this.children.keys()]);
    for (const element of [...elements].sort()) {
      const child = this.children.get(element);
      if (child === undefined) result[element] = {};
      else result[element] = { ...(this.members.has(element) ? { '.': {} } : {}), ...child.toFieldsV1() };
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
}

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
