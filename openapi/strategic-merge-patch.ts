/**
 * Strategic merge patch: a merge patch whose lists are merged where the schema says so, by a key of their items or as sets of
 * scalars. Directives are members of the patch: `$patch`, `$retainKeys`, `$setElementOrder/<list>` and
 * `$deleteFromPrimitiveList/<list>`.
 */
import { mergeObjectList, mergeScalarList } from './strategic-merge-patch/lists.js';
import {
  isObject,
  StrategicMergePatchError,
  type JsonObject,
  type MergeItem,
} from './strategic-merge-patch/patch.js';
import type { Member, StructuralNode } from './structural.js';

export { StrategicMergePatchError } from './strategic-merge-patch/patch.js';

const orderPrefix = '$setElementOrder/';
const deletionPrefix = '$deleteFromPrimitiveList/';

/**
 * `target` with `patch` applied, as a new value; neither argument is changed, though the result shares parts of both. What
 * `node` does not know is merged as a merge patch would. Throws `StrategicMergePatchError` for a directive or an item that
 * has no meaning.
 */
export function strategicMergePatch(target: unknown, patch: unknown, node: StructuralNode): unknown {
  if (!isObject(patch)) return patch;
  return mergeObject(isObject(target) ? target : {}, patch, node, '');
}

function mergeObject(
  target: JsonObject,
  patch: JsonObject,
  node: StructuralNode | undefined,
  path: string,
): JsonObject {
  const how = patch['$patch'];
  if (how === 'delete') return {};
  if (how !== undefined && how !== 'replace')
    throw new StrategicMergePatchError(
      path,
      `$patch must be "replace" or "delete", but it is ${JSON.stringify(how)}`,
    );
  const result = new Map(Object.entries(how === 'replace' ? {} : retained(target, patch, path)));
  for (const name of membersOf(patch)) {
    const place = path === '' ? name : `${path}.${name}`;
    const merged = mergeMember(result.get(name), patch, name, memberOf(node, name), place);
    if (merged === undefined) result.delete(name);
    else result.set(name, merged);
  }
  return Object.fromEntries(result);
}

/** The members that the patch is about, also those that only directives name. */
function membersOf(patch: JsonObject): Set<string> {
  const names = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (key === '$patch' || key === '$retainKeys') continue;
    if (key.startsWith(orderPrefix)) names.add(key.slice(orderPrefix.length));
    else if (key.startsWith(deletionPrefix)) names.add(key.slice(deletionPrefix.length));
    else names.add(key);
  }
  return names;
}

/** `target` without what `$retainKeys` leaves out. */
function retained(target: JsonObject, patch: JsonObject, path: string): JsonObject {
  const keys = listDirective(patch, '$retainKeys', path);
  if (keys === undefined) return target;
  const kept = new Set(keys);
  for (const name of Object.keys(patch))
    if (!name.startsWith('$') && patch[name] !== null && !kept.has(name))
      throw new StrategicMergePatchError(path, `${name} is in the patch, but not in its $retainKeys`);
  return Object.fromEntries(Object.entries(target).filter(([name]) => kept.has(name)));
}

function listDirective(patch: JsonObject, name: string, path: string): readonly unknown[] | undefined {
  const value = patch[name];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new StrategicMergePatchError(path, `${name} must be a list`);
  return value as readonly unknown[];
}

function memberOf(node: StructuralNode | undefined, name: string): Member | undefined {
  if (node?.kind === 'object') return node.members.get(name);
  return node?.kind === 'map' ? node.value : undefined;
}

/** The member as it will be; undefined if it is to go. */
function mergeMember(
  current: unknown,
  patch: JsonObject,
  name: string,
  member: Member | undefined,
  path: string,
): unknown {
  const value = Object.hasOwn(patch, name) ? patch[name] : undefined;
  const order = listDirective(patch, `${orderPrefix}${name}`, path);
  const deletions = listDirective(patch, `${deletionPrefix}${name}`, path);
  if (value === null) return undefined;
  if (Array.isArray(value) || (value === undefined && Array.isArray(current)))
    return mergeList(Array.isArray(current) ? current : [], { value, order, deletions }, member, path);
  if (value === undefined) return current;
  if (!isObject(value)) return value;
  const base = isObject(current) && member?.patch?.strategy !== 'replace' ? current : {};
  return mergeObject(base, value, member?.node, path);
}

interface ListPatch {
  readonly value: readonly unknown[] | undefined;
  readonly order: readonly unknown[] | undefined;
  readonly deletions: readonly unknown[] | undefined;
}

function mergeList(
  current: readonly unknown[],
  { value, order, deletions }: ListPatch,
  member: Member | undefined,
  path: string,
): readonly unknown[] {
  if (member?.patch?.strategy !== 'merge') {
    if (order !== undefined || deletions !== undefined)
      throw new StrategicMergePatchError(
        path,
        'it is replaced as a whole, so no directive may change its items',
      );
    return value ?? current;
  }
  const { mergeKey } = member.patch;
  if (mergeKey === undefined) return mergeScalarList(current, { value, order, deletions }, path);
  if (deletions !== undefined)
    throw new StrategicMergePatchError(path, `its items are objects: delete them by their ${mergeKey}`);
  const item = member.node.kind === 'list' ? member.node.item.node : undefined;
  const merge: MergeItem = (target, patch, place) => mergeObject(target, patch, item, place);
  return mergeObjectList(current, { value, order }, mergeKey, merge, path);
}
