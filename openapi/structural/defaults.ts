/** Fills in the defaults of a schema. */
import type { Member, StructuralNode } from './nodes.js';

type JsonObject = Record<string, unknown>;
type Fill = (value: unknown) => void;

/**
 * A function that sets absent members to their defaults, in place; also inside what it has just set. Only the parts of the schema
 * that hold defaults are walked, and most schemas hold few.
 */
export function compileDefaults(root: StructuralNode): Fill {
  const compiled = new Map<StructuralNode, Fill | undefined>();
  const relevant = nodesWithDefaults(root);
  const compile = (node: StructuralNode): Fill | undefined => {
    if (!relevant.has(node)) return undefined;
    if (compiled.has(node)) return compiled.get(node);
    // Cycles: the entry must exist before the members are compiled.
    let inner: Fill = () => undefined;
    const fill: Fill = (value) => inner(value);
    compiled.set(node, fill);
    inner = fillerOf(node, compile);
    return fill;
  };
  return compile(root) ?? (() => undefined);
}

function fillerOf(node: StructuralNode, compile: (node: StructuralNode) => Fill | undefined): Fill {
  switch (node.kind) {
    case 'object': {
      const steps = [...node.members]
        .map(([key, member]) => ({ key, member, fill: compile(member.node) }))
        .filter(({ member, fill }) => member.default !== undefined || fill !== undefined);
      return (value) => {
        if (!isObject(value)) return;
        for (const { key, member, fill } of steps) {
          if (mustDefault(value, key, member)) value[key] = structuredClone(member.default);
          if (fill !== undefined && value[key] !== undefined) fill(value[key]);
        }
      };
    }
    case 'map': {
      const fill = compile(node.value.node);
      return (value) => {
        if (isObject(value) && fill !== undefined) for (const key in value) fill(value[key]);
      };
    }
    case 'list': {
      const fill = compile(node.item.node);
      return (value) => {
        if (Array.isArray(value) && fill !== undefined) for (const item of value) fill(item);
      };
    }
    case 'scalar':
    case 'any':
      return () => undefined;
  }
}

/** A null that the member cannot hold counts as absent. */
function mustDefault(object: JsonObject, key: string, member: Member): boolean {
  if (member.default === undefined) return false;
  const value = object[key];
  return value === undefined || (value === null && !member.nullable);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function children(node: StructuralNode): readonly Member[] {
  switch (node.kind) {
    case 'object':
      return [...node.members.values()];
    case 'map':
      return [node.value];
    case 'list':
      return [node.item];
    case 'scalar':
    case 'any':
      return [];
  }
}

/** Every node below which some member has a default. */
function nodesWithDefaults(root: StructuralNode): ReadonlySet<StructuralNode> {
  const parents = new Map<StructuralNode, StructuralNode[]>();
  const pending: StructuralNode[] = [];
  const seen = new Set<StructuralNode>([root]);
  // A Set grows while it is walked: this visits each node of the graph once.
  for (const node of seen) {
    for (const member of children(node)) {
      parents.set(member.node, [...(parents.get(member.node) ?? []), node]);
      if (member.default !== undefined) pending.push(node);
      seen.add(member.node);
    }
  }
  const relevant = new Set(pending);
  for (const node of relevant) for (const parent of parents.get(node) ?? []) relevant.add(parent);
  return relevant;
}
