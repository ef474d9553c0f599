/**
 * Standalone's garbage collector: deletes objects whose owners are all gone, lets owners wait for their dependents
 * (foreground) or leaves the dependents behind (orphan).
 */
import type { KubernetesObject, OwnerReference } from '../../openapi/meta.js';
import { finalizers } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import type { DiscoveredKind, Discovery } from '../runtime/discovery.js';
import { isNotFound } from '../runtime/errors.js';
import { patchFinalizers } from '../runtime/writes.js';
import { OwnershipGraph, itemOf, uidOf, type GraphNode } from './graph.js';
import { Monitors } from './monitors.js';
import {
  blocks,
  classify,
  isDeletingForeground,
  isOrphaning,
  policyOf,
  type OwnerState,
  type Owners,
} from './owners.js';

/** Nothing is collected before everything is known. Milliseconds. */
const unsyncedRetry = 500;
/** An owner of a kind that nobody serves (now) may come back. */
const unknownKindRetry = 60_000;

export function createGarbageCollector(deps: ControllerDependencies, discovery: Discovery): Runnable {
  const collector = new GarbageCollector(deps, discovery);
  return {
    run: async (signal) => {
      await Promise.all([collector.monitors.run(signal), collector.controller.run(signal)]);
    },
  };
}

class UnknownOwnerKind extends Error {}

class GarbageCollector {
  readonly monitors: Monitors;
  readonly controller: Controller;
  readonly #graph = new OwnershipGraph();

  constructor(
    private readonly deps: ControllerDependencies,
    discovery: Discovery,
  ) {
    this.controller = new Controller({
      name: 'garbage-collector',
      informers: [],
      reconcile: (item, signal) => this.#process(item, signal),
      logger: deps.logger,
      clock: deps.clock,
      workers: 10,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.monitors = new Monitors(deps, discovery, (kind) => ({
      add: (object) => this.#changed(kind, object),
      update: (before, object) => {
        this.#changed(kind, object);
        // An owner that waits for this one may no longer have to.
        this.#enqueueWaitingOwners(before);
      },
      delete: (object) => this.#deleted(object),
    }));
  }

  #changed(kind: DiscoveredKind, object: KubernetesObject): void {
    this.#graph.set(kind, object);
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    if (ownerReferences.length > 0 || deletionTimestamp !== undefined) this.#enqueue({ kind, object });
  }

  #deleted(object: KubernetesObject): void {
    const { uid } = object.metadata;
    const dependents = this.#graph.dependentsOf(uid);
    this.#graph.delete(uid);
    for (const dependent of dependents) this.#enqueue(dependent);
    this.#enqueueWaitingOwners(object);
  }

  #enqueueWaitingOwners({ metadata }: KubernetesObject): void {
    for (const { uid } of metadata.ownerReferences ?? []) {
      const owner = this.#graph.get(uid);
      if (owner !== undefined && isDeletingForeground(owner.object)) this.#enqueue(owner);
    }
  }

  #enqueue({ kind, object }: GraphNode): void {
    this.controller.enqueue(itemOf(kind, object));
  }

  async #process(item: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (!this.monitors.hasSynced) return { requeueAfter: unsyncedRetry };
    const node = this.#graph.get(uidOf(item));
    if (node === undefined) return undefined;
    try {
      if (isOrphaning(node.object)) await this.#orphan(node, signal);
      else if (isDeletingForeground(node.object)) await this.#deleteForeground(node, signal);
      else if (node.object.metadata.deletionTimestamp === undefined) await this.#collect(node, signal);
      return undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (error instanceof UnknownOwnerKind) return { requeueAfter: unknownKindRetry };
      throw error;
    }
  }

  /** Leaves the dependents without this owner, then lets it go. */
  async #orphan(node: GraphNode, signal: AbortSignal): Promise<void> {
    const { uid } = node.object.metadata;
    for (const dependent of this.#graph.dependentsOf(uid)) await this.#disown(dependent, [uid], signal);
    await patchFinalizers(this.deps.client, node.kind, node.object, { remove: [finalizers.orphan] }, signal);
  }

  async #deleteForeground(node: GraphNode, signal: AbortSignal): Promise<void> {
    const { uid } = node.object.metadata;
    const blocking = this.#graph.dependentsOf(uid).filter(({ object }) => blocks(object, uid));
    if (blocking.length === 0) {
      const remove = [finalizers.foreground];
      await patchFinalizers(this.deps.client, node.kind, node.object, { remove }, signal);
      return;
    }
    for (const dependent of blocking)
      if (dependent.object.metadata.deletionTimestamp === undefined) this.#enqueue(dependent);
  }

  async #collect(node: GraphNode, signal: AbortSignal): Promise<void> {
    const { ownerReferences = [] } = node.object.metadata;
    if (ownerReferences.length === 0) return;
    const owners = await classify(ownerReferences, (reference) => this.#stateOf(reference, node, signal));
    const gone = [...owners.dangling, ...owners.waiting];
    if (gone.length === 0) return;
    if (owners.solid.length > 0) {
      await this.#disown(
        node,
        gone.map(({ uid }) => uid),
        signal,
      );
      return;
    }
    await this.#delete(node, owners, signal);
  }

  async #stateOf(reference: OwnerReference, node: GraphNode, signal: AbortSignal): Promise<OwnerState> {
    const known = this.#graph.get(reference.uid);
    if (known !== undefined) return isDeletingForeground(known.object) ? 'waiting' : 'solid';
    // Not knowing it proves nothing: only the server's word does.
    const kind = this.monitors.find(reference.apiVersion, reference.kind);
    if (kind === undefined) throw new UnknownOwnerKind();
    const { namespace } = node.object.metadata;
    // A cluster-scoped object can not have a namespaced owner; such a reference says nothing.
    if (kind.namespaced && namespace === undefined) return 'solid';
    const key = kind.namespaced ? { namespace, name: reference.name } : { name: reference.name };
    try {
      const owner = await this.deps.client.get<KubernetesObject>(kind, key, signal);
      return owner.metadata.uid === reference.uid ? 'solid' : 'dangling';
    } catch (error) {
      if (isNotFound(error)) return 'dangling';
      throw error;
    }
  }

  async #delete(node: GraphNode, owners: Owners, signal: AbortSignal): Promise<void> {
    const dependents = this.#graph.dependentsOf(node.object.metadata.uid);
    const foreground = owners.waiting.length > 0 && dependents.length > 0;
    const inCircle = foreground && dependents.some(({ object }) => isDeletingForeground(object));
    const object = inCircle ? await this.#unblock(node, signal) : node.object;
    const { uid, resourceVersion } = object.metadata;
    await this.deps.client.delete<KubernetesObject>(
      node.kind,
      object.metadata,
      {
        propagationPolicy: foreground ? 'Foreground' : policyOf(object),
        // It may have been given a living owner in the meantime.
        preconditions: { uid, resourceVersion },
      },
      signal,
    );
  }

  /** Its owner waits for it, and it for its owner: one has to give way. */
  async #unblock({ kind, object }: GraphNode, signal: AbortSignal): Promise<KubernetesObject> {
    const { uid, resourceVersion, ownerReferences = [] } = object.metadata;
    if (!ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)) return object;
    const released = ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false }));
    const body = { metadata: { uid, resourceVersion, ownerReferences: released } };
    const patch = { type: 'merge', body } as const;
    return this.deps.client.patch<KubernetesObject>(kind, object.metadata, patch, undefined, signal);
  }

  async #disown({ kind, object }: GraphNode, owners: readonly string[], signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, ownerReferences = [] } = object.metadata;
    const kept = ownerReferences.filter((reference) => !owners.includes(reference.uid));
    if (kept.length === ownerReferences.length) return;
    const body = {
      metadata: { uid, resourceVersion, ownerReferences: kept.length === 0 ? null : kept },
    };
    try {
      await this.deps.client.patch<KubernetesObject>(
        kind,
        object.metadata,
        { type: 'merge', body },
        undefined,
        signal,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
