/** Uniqueness of list sets and list maps. */
import type { ListNode, StructuralNode } from '../structural/nodes.js';
import { duplicate } from './field-error.js';
import { isObject, type Visit } from './walk.js';

export function visitList(node: StructuralNode): Visit | undefined {
  if (node.kind !== 'list' || !node.unique) return undefined;
  return (value, _, path, report) => {
    if (!Array.isArray(value)) return;
    const seen = new Set<string>();
    value.forEach((item: unknown, index) => {
      const identity = identityOf(node, item);
      if (identity === undefined) return;
      const text = JSON.stringify(identity);
      if (seen.has(text)) report(duplicate([...path, index], identity));
      seen.add(text);
    });
  };
}

/** What tells an item from the others: itself, or its keys with their defaults. */
function identityOf(node: ListNode, item: unknown): unknown {
  if (node.listType === 'set') return item;
  if (!isObject(item)) return undefined;
  const { node: itemNode } = node.item;
  const defaultOf = (key: string): unknown =>
    itemNode.kind === 'object' ? itemNode.members.get(key)?.default : undefined;
  return Object.fromEntries(node.keys.map((key) => [key, item[key] ?? defaultOf(key)]));
}
