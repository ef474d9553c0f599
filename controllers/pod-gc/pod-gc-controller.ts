/**
 * Removes pods that no node agent will ever remove: their node is gone, they were deleted before they got one, or they were
 * deleted and their node is out of service.
 */
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { fencingProof } from '../node/fencing.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { isConflict, isNotFound } from '../runtime/errors.js';
import type { Informer } from '../runtime/informer.js';
import { nodes, pods } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';

/** A node that vanishes may be about to register again. Milliseconds. */
const quarantine = 40_000;
const nodeIndex = 'node';

export function createPodGarbageController(deps: ControllerDependencies): Runnable {
  return new PodGarbageController(deps).controller;
}

class PodGarbageController {
  readonly controller: Controller;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  /** When each missing node was first missed, monotonic. */
  readonly #missing = new Map<string, number>();

  constructor(private readonly deps: ControllerDependencies) {
    this.#pods = deps.informers.get(pods);
    this.#nodes = deps.informers.get(nodes);
    this.#pods.addIndex(nodeIndex, ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]));
    this.controller = new Controller({
      name: 'pod-gc',
      informers: [this.#pods, this.#nodes],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      workers: 1,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const enqueue = (pod: Pod): void => {
      this.controller.enqueue(keyOf(pod.metadata));
    };
    this.#pods.addHandler({ add: enqueue, update: (_, pod) => enqueue(pod) });
    this.#nodes.addHandler({
      add: ({ metadata }) => {
        this.#missing.delete(metadata.name);
      },
      update: (before, node) => {
        if (fencingProof(before) !== undefined || fencingProof(node) === undefined) return;
        for (const pod of this.#pods.byIndex(nodeIndex, node.metadata.name)) enqueue(pod);
      },
      delete: ({ metadata }) => {
        for (const pod of this.#pods.byIndex(nodeIndex, metadata.name)) enqueue(pod);
      },
    });
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const pod = this.#pods.get(key);
    if (pod === undefined) return undefined;
    const node = pod.spec?.nodeName;
    if (node === undefined) {
      if (pod.metadata.deletionTimestamp !== undefined) await this.#remove(pod, signal);
      return undefined;
    }
    const present = this.#nodes.get({ name: node });
    if (present !== undefined) {
      const deleted = pod.metadata.deletionTimestamp !== undefined;
      if (deleted && fencingProof(present) !== undefined) await this.#remove(pod, signal);
      return undefined;
    }
    const left = this.#quarantineLeft(node);
    if (left > 0) return { requeueAfter: left };
    await this.#remove(pod, signal);
    return undefined;
  }

  #quarantineLeft(node: string): number {
    const now = this.deps.clock.monotonic();
    const since = this.#missing.get(node) ?? now;
    this.#missing.set(node, since);
    return since + quarantine - now;
  }

  async #remove({ metadata }: Pod, signal: AbortSignal): Promise<void> {
    this.deps.logger.info({ pod: keyOf(metadata) }, 'removing a pod that no node will remove');
    const params = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
    try {
      await this.deps.client.delete(pods, metadata, params, signal);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
