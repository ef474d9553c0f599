/** Who owns whom, over all kinds that are watched. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { DiscoveredKind } from '../runtime/discovery.js';
import { keyOf } from '../runtime/object-key.js';

export interface GraphNode {
  readonly kind: DiscoveredKind;
  readonly object: KubernetesObject;
}

export class OwnershipGraph {
  readonly #nodes = new Map<string, GraphNode>();
  /** UID of an owner → UIDs of those that name it. Owners need not be known themselves. */
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  dependentsOf(uid: string): GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#nodes.get(dependent) ?? []);
  }

  set(kind: DiscoveredKind, object: KubernetesObject): void {
    const { uid } = object.metadata;
    this.#unlink(uid);
    this.#nodes.set(uid, { kind, object });
    for (const owner of object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set();
      dependents.add(uid);
      this.#dependents.set(owner.uid, dependents);
    }
  }

  delete(uid: string): void {
    this.#unlink(uid);
    this.#nodes.delete(uid);
  }

  #unlink(uid: string): void {
    for (const owner of this.#nodes.get(uid)?.object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
  }
}

/** Kind and key in one string: what the collector's queue holds. */
export function itemOf(kind: DiscoveredKind, object: KubernetesObject): string {
  return `${resourceId(kind)}|${object.metadata.uid}|${keyOf(object.metadata)}`;
}

export function uidOf(item: string): string {
  return item.split('|')[1] ?? '';
}

export function resourceId({ group, resource }: { group: string; resource: string }): string {
  return `${group}/${resource}`;
}
