/** What a schema says about the shape of an object: pruning, defaulting, and the types that server-side apply needs. */
import type { Definitions } from './schema.js';
import { compileDefaults } from './structural/defaults.js';
import { compileNode, nodeAt, type StructuralNode } from './structural/nodes.js';
import { pruneValue } from './structural/prune.js';

export { isNative, memberNode, nodeAt } from './structural/nodes.js';
export type {
  AnyNode,
  ListNode,
  MapNode,
  Member,
  ObjectNode,
  ScalarNode,
  StructuralNode,
} from './structural/nodes.js';

export interface StructuralSchema {
  /** Full name of the definition. */
  readonly name: string;
  readonly root: StructuralNode;
  /**
   * Removes unknown members in place and returns their paths, sorted (`spec.foo`, `spec.list[0].bar`). Also removes nulls
   * of nullable members, and all nulls of metadata and of core kinds: a stored object has none of those.
   */
  prune(object: unknown): string[];
  /** Sets absent members to their defaults, in place. Prune first. */
  applyDefaults(object: unknown): void;
  /** The node at a path of member names and list indexes; undefined where the schema knows nothing. */
  schemaAt(path: readonly (string | number)[]): StructuralNode | undefined;
}

/** Takes some milliseconds for a large kind: keep the result. Throws if `name` or what it refers to is not defined. */
export function compileStructural(definitions: Definitions, name: string): StructuralSchema {
  const root = compileNode(definitions, name);
  return {
    name,
    root,
    prune: (object) => pruneValue(root, object),
    applyDefaults: compileDefaults(root),
    schemaAt: (path) => nodeAt(root, path),
  };
}
