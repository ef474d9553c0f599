/** Standalone's scheduler: binds each pod to the best node that can run it. */
import type { Namespace, Node, PersistentVolumeClaim, Pod } from '../../openapi/generated/types/core_v1.js';
import { reasons } from '../constants.js';
import { PodBudgets } from '../disruption/pod-budgets.js';
import type { ControllerDependencies } from '../dependencies.js';
import { findCondition, withCondition } from '../runtime/conditions.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import {
  namespaces,
  nodes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  priorityClasses,
} from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { patchStatus } from '../runtime/writes.js';
import { claimsState, podClaims } from './claims-ready.js';
import { Candidates } from './candidates.js';
import type { Cluster } from './cluster.js';
import { isNodeReady } from './filters/node-ready.js';
import { Nominations } from './nominations.js';
import { place, type Placement } from './placement.js';
import { preempt } from './preemption.js';
import { Priorities } from './priority.js';
import { Victims } from './victims.js';

export const schedulerName = 'default-scheduler';
/** A claim is provisioned in less; then its pod is called unschedulable. Milliseconds. */
const claimPatience = 5000;
/** A pod that found no node is tried again this often, whatever happens. */
const retryAfter = 60_000;
const claimIndex = 'pod-claim';
/** We hand out no devices by claims, and so have none to take back. */
const claimsKept = 'no new claims to deallocate, ';
const neverPreempts = 'preemption: not eligible due to preemptionPolicy=Never.';

export function createSchedulerController(deps: ControllerDependencies): Runnable {
  return new Scheduler(deps).controller;
}

class Scheduler {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #claims: Informer<PersistentVolumeClaim>;
  /** Pods that found no node: tried again when something changes. */
  readonly #waiting = new Set<string>();
  readonly #candidates: Candidates;
  readonly #namespaces: Informer<Namespace>;
  readonly #priorities: Priorities;
  readonly #nominations: Nominations;
  readonly #victims: Victims;
  readonly #budgets: PodBudgets;

  constructor(private readonly deps: ControllerDependencies) {
    this.#recorder = deps.recorder(schedulerName);
    this.#pods = deps.informers.get(pods);
    this.#nodes = deps.informers.get(nodes);
    this.#claims = deps.informers.get(persistentVolumeClaims);
    this.#candidates = new Candidates(this.#nodes, this.#pods);
    this.#namespaces = deps.informers.get(namespaces);
    const classes = deps.informers.get(priorityClasses);
    const budgets = deps.informers.get(podDisruptionBudgets);
    this.#budgets = new PodBudgets(this.#pods, budgets);
    this.#priorities = new Priorities(classes);
    this.#nominations = new Nominations(this.#pods, this.#priorities);
    this.#victims = new Victims(deps.client, this.#recorder, deps.clock);
    this.#pods.addIndex(claimIndex, (pod) =>
      podClaims(pod).map((claim) => `${pod.metadata.namespace ?? ''}/${claim}`),
    );
    this.controller = new Controller({
      name: 'scheduler',
      informers: [this.#pods, this.#nodes, this.#claims, this.#namespaces, classes, budgets],
      reconcile: (key, signal) => this.#schedule(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      // A decision is made in one turn and assumed at once, so that the next one sees it: only its binding is waited for.
      workers: 16,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    this.#pods.addHandler({
      add: (pod) => this.#podChanged(pod),
      update: (before, pod) => {
        this.#podChanged(pod);
        if (hasEnded(pod) && !hasEnded(before)) this.#retryWaiting();
      },
      delete: (pod) => {
        this.#waiting.delete(keyOf(pod.metadata));
        if (pod.spec?.nodeName !== undefined) this.#retryWaiting();
      },
    });
    this.#nodes.addHandler({
      add: () => this.#retryWaiting(),
      update: (before, node) => {
        if (matters(before, node)) this.#retryWaiting();
      },
    });
    const claimChanged = (claim: PersistentVolumeClaim): void => {
      for (const pod of this.#pods.byIndex(claimIndex, keyOf(claim.metadata))) this.#podChanged(pod);
    };
    this.#claims.addHandler({ add: claimChanged, update: (_, claim) => claimChanged(claim) });
  }

  #podChanged(pod: Pod): void {
    if (isOurs(pod)) this.controller.enqueue(keyOf(pod.metadata));
    else this.#waiting.delete(keyOf(pod.metadata));
  }

  /** The most important first. */
  #retryWaiting(): void {
    const pending = [...this.#waiting].flatMap((key) => this.#pods.get(key) ?? []);
    pending.sort((a, b) => this.#priorities.of(b) - this.#priorities.of(a));
    for (const { metadata } of pending) this.controller.enqueue(keyOf(metadata));
  }

  async #schedule(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const pod = this.#pods.get(key);
    if (pod === undefined || !isOurs(pod) || this.#candidates.isAssumed(pod.metadata.uid)) return undefined;
    const claims = claimsState(pod, this.#claims);
    const age = this.deps.clock.now() - Date.parse(pod.metadata.creationTimestamp);
    if (claims.kind === 'pending' && age < claimPatience) return { requeueAfter: claimPatience - age };
    if (claims.kind === 'pending')
      return this.#refuse(pod, 'pod has unbound immediate PersistentVolumeClaims', signal);
    if (claims.kind === 'missing') return this.#refuse(pod, claims.message, signal);
    const placement = place(pod, this.#cluster(pod));
    if (placement.kind === 'none') return this.#preempt(pod, placement, signal);
    await this.#bind(pod, placement.name, signal);
    return undefined;
  }

  #cluster(pod: Pod): Cluster {
    const { candidates } = this.#nominations.reserve(this.#candidates.cluster(), pod);
    return {
      candidates,
      namespaceLabels: (name) => this.#namespaces.get({ name })?.metadata.labels,
      budgetsOf: (each) => this.#budgets.budgetsOf(each),
    };
  }

  /** No node takes it as it is: perhaps one would without pods that matter less. */
  async #preempt(
    pod: Pod,
    { message, refusals }: Extract<Placement, { kind: 'none' }>,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    if (this.#nominations.isRoomBeingMade(pod)) {
      this.#waiting.add(keyOf(pod.metadata));
      return { requeueAfter: retryAfter };
    }
    if (refusals.size === 0) return this.#refuse(pod, message, signal);
    if (!this.#priorities.mayPreempt(pod))
      return this.#refuse(pod, `${message} ${claimsKept}${neverPreempts}`, signal);
    const preemption = preempt(pod, this.#cluster(pod), refusals, this.#priorities.of);
    if (preemption.kind === 'none')
      return this.#refuse(pod, `${message} ${claimsKept}${preemption.message}`, signal);
    const { node, victims } = preemption;
    await this.#refuse(pod, message, signal, node);
    for (const victim of victims) await this.#victims.remove(victim, pod, node, signal);
    return { requeueAfter: retryAfter };
  }

  async #bind(pod: Pod, node: string, signal: AbortSignal): Promise<void> {
    const { uid, name, namespace } = pod.metadata;
    this.#candidates.assume(pod, node);
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    try {
      await this.deps.client.post(pods, { namespace, name }, 'POST', 'binding', body, signal);
    } catch (error) {
      this.#candidates.forget(uid);
      // Gone, or bound by somebody else: the informer will show it.
      if (isNotFound(error) || isConflict(error)) return;
      throw error;
    }
    // The informer may have shown it before the answer came.
    if (this.#pods.get({ namespace, name })?.spec?.nodeName !== undefined) this.#candidates.forget(uid);
    this.#waiting.delete(keyOf(pod.metadata));
    this.#recorder.event(
      pod,
      'Normal',
      'Scheduled',
      `Successfully assigned ${keyOf(pod.metadata)} to ${node}`,
    );
  }

  /** `nominated`: the node where it will find room; empty if there is none. */
  async #refuse(pod: Pod, message: string, signal: AbortSignal, nominated = ''): Promise<ReconcileResult> {
    this.#waiting.add(keyOf(pod.metadata));
    const before = findCondition(pod.status?.conditions, 'PodScheduled');
    const moved = nominated !== (pod.status?.nominatedNodeName ?? '');
    if (before?.status !== 'False' || before.message !== message || moved) {
      const wanted = {
        type: 'PodScheduled',
        status: 'False',
        reason: reasons.unschedulable,
        message,
      } as const;
      const conditions = withCondition(pod.status?.conditions, wanted, this.deps.clock.now());
      const nominatedNodeName = nominated === '' ? undefined : nominated;
      const status = { ...pod.status, conditions, nominatedNodeName };
      await patchStatus(this.deps.client, pods, pod, status, signal);
      this.#recorder.event(pod, 'Warning', 'FailedScheduling', message);
    }
    return { requeueAfter: retryAfter };
  }
}

function isOurs(pod: Pod): boolean {
  const { nodeName, schedulerName: wanted = schedulerName, schedulingGates = [] } = pod.spec ?? {};
  return (
    nodeName === undefined &&
    wanted === schedulerName &&
    schedulingGates.length === 0 &&
    pod.metadata.deletionTimestamp === undefined &&
    !hasEnded(pod)
  );
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Nodes report their health all the time; only these changes may make room for a pod. */
function matters(before: Node, after: Node): boolean {
  const relevant = (node: Node): string =>
    JSON.stringify([
      node.metadata.labels,
      node.spec?.taints,
      node.spec?.unschedulable,
      node.status?.allocatable,
      isNodeReady(node),
    ]);
  return relevant(before) !== relevant(after);
}
