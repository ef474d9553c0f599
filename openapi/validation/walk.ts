/** Walks an object and its old state along the nodes of its schema, but only where some node is of interest. */
import type { ListNode, StructuralNode } from '../structural/nodes.js';
import type { FieldError, FieldPath } from './field-error.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Looks at one value. `old` is the value it replaces, undefined if there is none or it cannot be told. */
export type Visit = (
  value: unknown,
  old: unknown,
  path: FieldPath,
  report: (error: FieldError) => void,
) => void;

/** What to do at a node; undefined if nothing. Called once a node. */
export type Visitor = (node: StructuralNode) => Visit | undefined;

export function compileWalk(root: StructuralNode, visitor: Visitor): Visit | undefined {
  const visits = new Map<StructuralNode, Visit>();
  const parents = new Map<StructuralNode, StructuralNode[]>();
  // A Set grows while it is walked: this visits each node of the graph once.
  const seen = new Set([root]);
  for (const node of seen) {
    const visit = visitor(node);
    if (visit !== undefined) visits.set(node, visit);
    for (const child of childrenOf(node)) {
      parents.set(child, [...(parents.get(child) ?? []), node]);
      seen.add(child);
    }
  }
  const relevant = new Set(visits.keys());
  for (const node of relevant) for (const parent of parents.get(node) ?? []) relevant.add(parent);
  if (!relevant.has(root)) return undefined;
  const descents = new Map([...relevant].map((node) => [node, descentOf(node, relevant)]));
  const walk = (node: StructuralNode, ...[value, old, path, report]: Parameters<Visit>): void => {
    if (value === undefined || value === null) return;
    visits.get(node)?.(value, old, path, report);
    descents.get(node)?.(value, old, (child, inner, innerOld, step) =>
      walk(child, inner, innerOld, [...path, step], report),
    );
  };
  return (value, old, path, report) => walk(root, value, old, path, report);
}

function childrenOf(node: StructuralNode): readonly StructuralNode[] {
  switch (node.kind) {
    case 'object':
      return [...node.members.values()].map((member) => member.node);
    case 'map':
      return [node.value.node];
    case 'list':
      return [node.item.node];
    case 'scalar':
    case 'any':
      return [];
  }
}

type Descent = (
  value: unknown,
  old: unknown,
  into: (child: StructuralNode, value: unknown, old: unknown, step: string | number) => void,
) => void;

/** How to get from a value to those below it that are of interest, if there can be any. */
function descentOf(node: StructuralNode, relevant: ReadonlySet<StructuralNode>): Descent | undefined {
  switch (node.kind) {
    case 'object': {
      const members = [...node.members].filter(([, member]) => relevant.has(member.node));
      return (value, old, into) => {
        if (!isObject(value)) return;
        for (const [key, member] of members)
          if (Object.hasOwn(value, key))
            into(member.node, value[key], isObject(old) ? old[key] : undefined, key);
      };
    }
    case 'map': {
      const { node: child } = node.value;
      if (!relevant.has(child)) return undefined;
      return (value, old, into) => {
        if (!isObject(value)) return;
        for (const key of Object.keys(value))
          into(child, value[key], isObject(old) ? old[key] : undefined, key);
      };
    }
    case 'list': {
      const { node: child } = node.item;
      if (!relevant.has(child)) return undefined;
      return (value, old, into) => {
        if (!Array.isArray(value)) return;
        value.forEach((item, index) => into(child, item, correlate(node, item, old), index));
      };
    }
    case 'scalar':
    case 'any':
      return undefined;
  }
}

/** The item of the old list that has the same keys; only maps have such. */
export function correlate(node: ListNode, item: unknown, old: unknown): unknown {
  if (node.listType !== 'map' || !Array.isArray(old) || !isObject(item)) return undefined;
  return old.find(
    (candidate) => isObject(candidate) && node.keys.every((key) => candidate[key] === item[key]),
  ) as unknown;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
