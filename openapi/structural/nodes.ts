/**
 * Definitions resolved into a graph of nodes: what pruning, defaulting, duplicate checks and server-side apply walk. A node
 * says what a value is; a member says how it sits in its parent. Types may refer to themselves, so the graph may have cycles.
 */
import { definition } from '../definitions.js';
import type { Definitions, Schema } from '../schema.js';

export type StructuralNode = ScalarNode | ObjectNode | MapNode | ListNode | AnyNode;

/** A string, number, boolean, quantity or int-or-string: always one field to server-side apply. */
export interface ScalarNode {
  readonly kind: 'scalar';
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'quantity' | 'int-or-string';
  readonly rules?: Rules;
}

/** An object with named members. */
export interface ObjectNode {
  readonly kind: 'object';
  readonly members: ReadonlyMap<string, Member>;
  /** Members that are not named are kept. */
  readonly preserveUnknown: boolean;
  /** One field to server-side apply, rather than one a member. */
  readonly atomic: boolean;
  readonly rules?: Rules;
}

/** An object whose keys are data: labels, resource lists. */
export interface MapNode {
  readonly kind: 'map';
  readonly value: Member;
  readonly atomic: boolean;
}

export interface ListNode {
  readonly kind: 'list';
  readonly item: Member;
  /** `atomic`: replaced whole; `set`: scalars, each one its own key; `map`: objects, told apart by `keys`. */
  readonly listType: 'atomic' | 'set' | 'map';
  /** For `map`, the members of the items that identify them. */
  readonly keys: readonly string[];
  /** Whether equal items are a fault. Core kinds leave that to the rules of the kind. */
  readonly unique: boolean;
}

/** Anything that JSON can say; nothing below is known. */
export interface AnyNode {
  readonly kind: 'any';
}

export type Rules = NonNullable<Schema['x-kubernetes-validations']>;

export interface Member {
  readonly node: StructuralNode;
  readonly nullable: boolean;
  /** Undefined: no default. Never changed: callers copy it. */
  readonly default: unknown;
  /** Whether a null is taken as an absent member, as Go decodes it. */
  readonly dropsNull: boolean;
  /** What strategic merge patch does with it, where that is not to merge objects and replace lists. */
  readonly patch?: PatchStrategy;
}

export interface PatchStrategy {
  readonly strategy: 'merge' | 'replace';
  /** Of merged lists of objects: the member of the items that tells them apart. Merged lists without it hold scalars. */
  readonly mergeKey: string | undefined;
}

export const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
export const quantityName = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
export const intOrStringName = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';

const anyNode: AnyNode = { kind: 'any' };
const quantityNode: ScalarNode = { kind: 'scalar', type: 'quantity' };
const intOrStringNode: ScalarNode = { kind: 'scalar', type: 'int-or-string' };

/** Core kinds decode as Go structs; the others decode as custom resources, except for their ObjectMeta. */
export function isNative(name: string): boolean {
  return name.startsWith('io.k8s.');
}

/** Compiles `name` with everything it refers to. Throws if a definition is missing or says what no walker understands. */
export function compileNode(definitions: Definitions, name: string): StructuralNode {
  return new Compiler(definitions).named(name, isNative(name));
}

/** A node while it is built. */
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class Compiler {
  /** Nodes by name and decoding, entered before their members are compiled so that cycles close. */
  private readonly byName = new Map<string, StructuralNode>();

  constructor(private readonly definitions: Definitions) {}

  named(name: string, native: boolean): StructuralNode {
    if (name === quantityName) return quantityNode;
    if (name === intOrStringName) return intOrStringNode;
    const key = `${native ? 'native' : 'custom'} ${name}`;
    const known = this.byName.get(key);
    if (known !== undefined) return known;
    return this.node(definition(this.definitions, name), native || name === objectMetaName, (node) =>
      this.byName.set(key, node),
    );
  }

  private member(schema: Schema, native: boolean): Member {
    const nullable = schema.nullable === true;
    return {
      node: this.inline(schema, native),
      nullable,
      default: schema.default ?? this.defaultOf(schema.$ref),
      dropsNull: nullable || native,
      ...patchOf(schema),
    };
  }

  private defaultOf(ref: string | undefined): unknown {
    return ref === undefined ? undefined : definition(this.definitions, ref).default;
  }

  private inline(schema: Schema, native: boolean): StructuralNode {
    const { $ref } = schema;
    if ($ref === undefined) return this.node(schema, native, () => undefined);
    // Beside a reference only the kind of map changes the node itself.
    if (schema['x-kubernetes-map-type'] === undefined) return this.named($ref, native);
    const merged = {
      ...definition(this.definitions, $ref),
      'x-kubernetes-map-type': schema['x-kubernetes-map-type'],
    };
    return this.node(merged, native, () => undefined);
  }

  private node(schema: Schema, native: boolean, enter: (node: StructuralNode) => unknown): StructuralNode {
    if (schema.$ref !== undefined) return this.inline(schema, native);
    if (schema['x-kubernetes-int-or-string'] === true) return intOrStringNode;
    switch (schema.type) {
      case 'string':
      case 'integer':
      case 'number':
      case 'boolean':
        return { kind: 'scalar', type: schema.type, ...rulesOf(schema) };
      case 'array':
        return this.list(schema, native, enter);
      case 'object':
        return this.object(schema, native, enter);
      case undefined:
        return anyNode;
    }
  }

  private list(schema: Schema, native: boolean, enter: (node: StructuralNode) => unknown): ListNode {
    if (schema.items === undefined) throw new Error('a list without items in the definitions');
    const listType = schema['x-kubernetes-list-type'] ?? 'atomic';
    const node: Mutable<ListNode> = {
      kind: 'list',
      item: placeholder,
      listType,
      keys: schema['x-kubernetes-list-map-keys'] ?? [],
      unique: listType !== 'atomic' && !native,
    };
    enter(node);
    node.item = this.member(schema.items, native);
    return node;
  }

  private object(schema: Schema, native: boolean, enter: (node: StructuralNode) => unknown): StructuralNode {
    const atomic = schema['x-kubernetes-map-type'] === 'atomic';
    const preserveUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
    if (typeof schema.additionalProperties === 'object') {
      const node: Mutable<MapNode> = { kind: 'map', value: placeholder, atomic };
      enter(node);
      node.value = this.member(schema.additionalProperties, native);
      return node;
    }
    const members = new Map<string, Member>();
    const node: ObjectNode = { kind: 'object', members, preserveUnknown, atomic, ...rulesOf(schema) };
    enter(node);
    for (const [key, member] of Object.entries(schema.properties ?? {}))
      members.set(key, this.member(member, native));
    return node;
  }
}

function rulesOf(schema: Schema): { rules?: Rules } {
  const rules = schema['x-kubernetes-validations'];
  return rules === undefined ? {} : { rules };
}

function patchOf(schema: Schema): { patch?: PatchStrategy } {
  const strategy = schema['x-kubernetes-patch-strategy'];
  if (strategy === undefined) return {};
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  return { patch: { strategy: strategy === 'replace' ? 'replace' : 'merge', mergeKey } };
}

const placeholder: Member = { node: anyNode, nullable: false, default: undefined, dropsNull: false };

/** The node of a member of an object or map, or undefined if the schema does not know it. */
export function memberNode(node: StructuralNode, key: string): StructuralNode | undefined {
  switch (node.kind) {
    case 'object':
      return node.members.get(key)?.node ?? (node.preserveUnknown ? anyNode : undefined);
    case 'map':
      return node.value.node;
    case 'any':
      return anyNode;
    case 'list':
    case 'scalar':
      return undefined;
  }
}

/** The node at a path of member names and list indexes, or undefined if the schema ends before. */
export function nodeAt(root: StructuralNode, path: readonly (string | number)[]): StructuralNode | undefined {
  let node: StructuralNode | undefined = root;
  for (const step of path) {
    if (node === undefined) return undefined;
    if (node.kind === 'any') return node;
    if (typeof step === 'number') node = node.kind === 'list' ? node.item.node : undefined;
    else node = memberNode(node, step);
  }
  return node;
}
