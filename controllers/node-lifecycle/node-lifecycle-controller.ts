/**
 * Notices nodes whose agent has gone silent (their lease is no longer renewed), so that nothing is scheduled to them and
 * their VMs are not taken for ready.
 *
 * It evicts nothing: a VM outlives its agent, and starting it elsewhere while it still runs would harm its disks. When the
 * Node object is deleted, `pod-gc` removes its pods and their VMIs fail.
 */
import type { Lease } from '../../openapi/generated/types/coordination_v1.js';
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import { labels } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import { leases, nodes, pods } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';
import { healthTaints, isKnownSilent, unknownConditions, unreadyConditions } from './node-health.js';

/** Where node agents keep their leases, one by the name of each node. */
export const nodeLeaseNamespace = 'kube-node-lease';
/** Milliseconds without a renewal. Agents renew every 10 s. */
const gracePeriod = 40_000;
const nodeIndex = 'node';

export function createNodeLifecycleController(deps: ControllerDependencies): Runnable {
  return new NodeLifecycleController(deps).controller;
}

class NodeLifecycleController {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #nodes: Informer<Node>;
  readonly #pods: Informer<Pod>;
  readonly #leases: Informer<Lease>;
  /** When each node was last heard of, monotonic: by our clock, not by its. */
  readonly #heard = new Map<string, { renewTime: string; at: number }>();

  constructor(private readonly deps: ControllerDependencies) {
    this.#recorder = deps.recorder('node-controller');
    this.#nodes = deps.informers.get(nodes);
    this.#pods = deps.informers.get(pods);
    this.#leases = deps.informers.get(leases, { namespace: nodeLeaseNamespace });
    this.#pods.addIndex(nodeIndex, ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]));
    this.controller = new Controller({
      name: 'node-lifecycle',
      informers: [this.#nodes, this.#pods, this.#leases],
      reconcile: (name, signal) => this.#reconcile(name, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const enqueue = ({ metadata }: Node | Lease): void => {
      this.controller.enqueue(metadata.name);
    };
    this.#nodes.addHandler({
      add: enqueue,
      update: (_, node) => enqueue(node),
      delete: ({ metadata }) => {
        this.#heard.delete(metadata.name);
      },
    });
    this.#leases.addHandler({ add: enqueue, update: (_, lease) => enqueue(lease) });
    this.#pods.addHandler({
      update: (_, { spec }) => {
        if (spec?.nodeName !== undefined && this.#isSilent(spec.nodeName))
          this.controller.enqueue(spec.nodeName);
      },
    });
  }

  #isSilent(name: string): boolean {
    const node = this.#nodes.get({ name });
    return node !== undefined && isKnownSilent(node);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const node = this.#nodes.get({ name });
    if (node === undefined) return undefined;
    const left = this.#graceLeft(node);
    if (left > 0) {
      await this.#updateTaints(node, signal);
      return { requeueAfter: left };
    }
    await this.#markSilent(node, signal);
    return undefined;
  }

  #graceLeft({ metadata }: Node): number {
    const now = this.deps.clock.monotonic();
    const lease = this.#leases.get({ namespace: nodeLeaseNamespace, name: metadata.name });
    const renewTime = lease?.spec?.renewTime ?? '';
    const before = this.#heard.get(metadata.name);
    const heard = before?.renewTime === renewTime ? before : { renewTime, at: now };
    this.#heard.set(metadata.name, heard);
    return heard.at + gracePeriod - now;
  }

  async #markSilent(node: Node, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.deps;
    let current = node;
    if (!isKnownSilent(node)) {
      const conditions = unknownConditions(node, clock.now());
      current = (await patchStatus(client, nodes, node, { ...node.status, conditions }, signal)) ?? node;
      const message = `node ${node.metadata.name}: its agent has not renewed its lease for ${gracePeriod / 1000} s`;
      this.#recorder.event(node, 'Warning', 'NodeNotReady', message);
    }
    await this.#updateTaints(current, signal);
    for (const pod of this.#pods.byIndex(nodeIndex, node.metadata.name)) {
      const conditions = unreadyConditions(pod, clock.now());
      if (conditions !== undefined)
        await patchStatus(client, pods, pod, { ...pod.status, conditions }, signal);
    }
  }

  /** Taints follow the Ready condition; a node that is not known to be well takes no VMs. */
  async #updateTaints(node: Node, signal: AbortSignal): Promise<void> {
    const taints = healthTaints(node);
    const relabel = isKnownSilent(node) && node.metadata.labels?.[labels.schedulable] === 'true';
    if (taints === undefined && !relabel) return;
    const { uid, resourceVersion } = node.metadata;
    const body = {
      metadata: {
        uid,
        resourceVersion,
        ...(relabel ? { labels: { [labels.schedulable]: 'false' } } : {}),
      },
      ...(taints === undefined ? {} : { spec: { taints } }),
    };
    await this.deps.client.patch(nodes, node.metadata, { type: 'merge', body }, undefined, signal);
  }
}
