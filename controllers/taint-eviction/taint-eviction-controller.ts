/** Removes pods from nodes whose `NoExecute` taints they do not tolerate, or no longer: `tolerationSeconds`. */
import type { Node, Pod, Taint } from '../../openapi/generated/types/core_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { disruptPod } from '../disruption-target.js';
import { Patience } from '../patience.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import { nodes, pods } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { allowedStay, evictingTaints } from './stay.js';

const nodeIndex = 'node';
const cause = {
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
} as const;

export function createTaintEvictionController(deps: ControllerDependencies): Runnable {
  return new TaintEvictionController(deps).controller;
}

class TaintEvictionController {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  /** By UIDs of pods: since when they have been on a tainted node. */
  readonly #tainted: Patience;
  /** By UIDs of pods that have to go: whether they were deleted. */
  readonly #condemned = new Map<string, 'waiting' | 'deleted'>();

  constructor(private readonly deps: ControllerDependencies) {
    this.#recorder = deps.recorder('taint-eviction-controller');
    this.#tainted = new Patience(deps.clock);
    this.#pods = deps.informers.get(pods);
    this.#nodes = deps.informers.get(nodes);
    this.#pods.addIndex(nodeIndex, ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]));
    this.controller = new Controller({
      name: 'taint-eviction',
      informers: [this.#pods, this.#nodes],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const enqueue = (pod: Pod): void => {
      const concerned = this.#taintsOf(pod).length > 0 || this.#condemned.has(pod.metadata.uid);
      if (concerned) this.controller.enqueue(keyOf(pod.metadata));
    };
    this.#pods.addHandler({
      add: enqueue,
      update: (_, pod) => enqueue(pod),
      delete: ({ metadata }) => this.#forget(metadata.uid),
    });
    const onNode = ({ metadata }: Node): void => {
      for (const pod of this.#pods.byIndex(nodeIndex, metadata.name)) enqueue(pod);
    };
    // Heartbeats change nodes all the time.
    this.#nodes.addHandler({
      add: onNode,
      update: (before, node) => {
        if (JSON.stringify(before.spec?.taints) !== JSON.stringify(node.spec?.taints)) onNode(node);
      },
    });
  }

  #taintsOf({ spec }: Pod): Taint[] {
    return spec?.nodeName === undefined
      ? []
      : evictingTaints(this.#nodes.get({ name: spec.nodeName })?.spec?.taints);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const pod = this.#pods.get(key);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
    const { uid } = pod.metadata;
    if (this.#condemned.get(uid) === 'deleted') return undefined;
    const stay = allowedStay(this.#taintsOf(pod), pod.spec?.tolerations);
    if (!Number.isFinite(stay)) {
      if (this.#condemned.has(uid)) this.#tell(pod, 'Cancelling deletion of');
      this.#forget(uid);
      return undefined;
    }
    this.#condemned.set(uid, 'waiting');
    const left = stay - this.#tainted.waited(uid);
    if (left > 0) return { requeueAfter: left };
    const { client, clock } = this.deps;
    if (!(await disruptPod(client, pod, cause, clock, signal))) return undefined;
    this.#condemned.set(uid, 'deleted');
    this.#tell(pod, 'Marking for deletion');
    return undefined;
  }

  #forget(uid: string): void {
    this.#condemned.delete(uid);
    this.#tainted.end(uid);
  }

  #tell(pod: Pod, what: string): void {
    this.#recorder.event(pod, 'Normal', 'TaintManagerEviction', `${what} Pod ${keyOf(pod.metadata)}`);
  }
}
