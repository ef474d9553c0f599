/** Removes what a schema does not know, and tells where it was. */
import type { ListNode, Member, ObjectNode, StructuralNode } from './nodes.js';

type JsonObject = Record<string, unknown>;

/** Paths relative to a value: `.foo`, `[0].bar`; undefined when there are none, which is nearly always. */
type Found = string[] | undefined;

/**
 * Removes unknown members of `value` in place, and nulls that mean absence. Returns the paths of the unknown members, sorted:
 * `spec.foo`, `spec.list[0].bar`. What has the wrong type is left for the validator.
 */
export function pruneValue(node: StructuralNode, value: unknown): string[] {
  const found = prune(node, value);
  return found === undefined ? [] : found.map((path) => path.slice(1)).sort();
}

function prune(node: StructuralNode, value: unknown): Found {
  if (typeof value !== 'object' || value === null) return undefined;
  switch (node.kind) {
    case 'object':
      return Array.isArray(value) ? undefined : pruneObject(node, value as JsonObject);
    case 'map':
      return Array.isArray(value) || !descends(node.value)
        ? undefined
        : pruneMap(node.value, value as JsonObject);
    case 'list':
      return Array.isArray(value) && descends(node.item) ? pruneList(node, value) : undefined;
    case 'scalar':
    case 'any':
      return undefined;
  }
}

/** Whether anything below can be pruned. */
function descends(member: Member): boolean {
  return member.node.kind !== 'scalar' && member.node.kind !== 'any';
}

function pruneObject(node: ObjectNode, object: JsonObject): Found {
  let found: Found;
  for (const key in object) {
    const member = node.members.get(key);
    if (member === undefined) {
      if (node.preserveUnknown) continue;
      Reflect.deleteProperty(object, key);
      (found ??= []).push(`.${key}`);
      continue;
    }
    const value = object[key];
    if (value === null) {
      if (member.dropsNull) Reflect.deleteProperty(object, key);
    } else if (typeof value === 'object') {
      found = join(found, `.${key}`, prune(member.node, value));
    }
  }
  return found;
}

function pruneMap(member: Member, object: JsonObject): Found {
  let found: Found;
  for (const key in object) found = join(found, `.${key}`, prune(member.node, object[key]));
  return found;
}

function pruneList(node: ListNode, list: readonly unknown[]): Found {
  let found: Found;
  list.forEach((item, index) => {
    found = join(found, `[${index}]`, prune(node.item.node, item));
  });
  return found;
}

function join(found: Found, prefix: string, below: Found): Found {
  if (below === undefined) return found;
  const paths = below.map((path) => prefix + path);
  return found === undefined ? paths : [...found, ...paths];
}
