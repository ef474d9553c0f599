/** Keeps the number of instances of each replica set: makes what is missing, deletes what is too many or has ended. */
import { isDeepStrictEqual } from 'node:util';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { compileLabelSelector, type LabelMatcher } from '../../openapi/selectors.js';
import { burstLimit, inGrowingBatches } from '../batches.js';
import { reasons } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { nextReplicaStatus, replicaConditions, type ReplicaFailure } from '../replica-status.js';
import { findCondition } from '../runtime/conditions.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { isAlreadyExists } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { Expectations } from '../runtime/expectations.js';
import { namespaceIndex, type Informer } from '../runtime/informer.js';
import { virtualMachineInstanceReplicaSets, virtualMachineInstances } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerOf, patchStatus } from '../runtime/writes.js';
import { inOrderOfDeletion, isReady, standingOf } from './instances.js';
import { Membership } from './membership.js';
import { Replicas } from './replicas.js';
import { freeNames } from './template.js';

const component = 'virtualmachinereplicaset-controller';

export function createReplicaSetController(deps: ControllerDependencies): Runnable {
  return new ReplicaSetController(deps).controller;
}

/** Active instances as they are once what was done has taken effect. */
interface Outcome {
  readonly active: readonly VirtualMachineInstance[];
  readonly failure?: ReplicaFailure;
  /** To be thrown once the status is written. */
  readonly error?: Error;
}

class ReplicaSetController {
  readonly controller: Controller;
  readonly #expectations: Expectations;
  readonly #recorder: EventRecorder;
  readonly #replicaSets: Informer<VirtualMachineInstanceReplicaSet>;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #membership: Membership;
  readonly #replicas: Replicas;

  constructor(private readonly deps: ControllerDependencies) {
    this.#expectations = new Expectations(deps.clock);
    this.#recorder = deps.recorder(component);
    this.#replicaSets = deps.informers.get(virtualMachineInstanceReplicaSets);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#membership = new Membership(deps.client, this.#vmis, this.#expectations);
    this.#replicas = new Replicas(deps.client, this.#recorder, this.#expectations, this.#vmis);
    this.controller = new Controller({
      name: 'replica-set',
      informers: [this.#replicaSets, this.#vmis],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const enqueue = (replicaSet: VirtualMachineInstanceReplicaSet): void => {
      const key = keyOf(replicaSet.metadata);
      const { uid, resourceVersion } = replicaSet.metadata;
      this.#expectations.versionObserved(key, uid, resourceVersion);
      this.controller.enqueue(key);
    };
    this.#replicaSets.addHandler({
      add: enqueue,
      update: (_, replicaSet) => enqueue(replicaSet),
      delete: (replicaSet) => {
        this.#expectations.forget(keyOf(replicaSet.metadata));
        this.controller.enqueue(keyOf(replicaSet.metadata));
      },
    });
    this.#vmis.addHandler({
      add: (vmi) => {
        const key = ownerKey(vmi);
        if (key === undefined) this.#offer(vmi);
        else this.#observe(key, vmi);
      },
      update: (before, vmi) => {
        const keys = new Set([ownerKey(before), ownerKey(vmi)]);
        for (const key of keys) if (key !== undefined) this.#observe(key, vmi);
        if (keys.size > 1 || !isDeepStrictEqual(before.metadata.labels, vmi.metadata.labels))
          this.#offer(vmi);
      },
      delete: (vmi) => {
        const key = ownerKey(vmi);
        if (key !== undefined) this.#observe(key, vmi, true);
      },
    });
  }

  /** An instance of the replica set has changed, or is one no more. */
  #observe(key: string, { metadata }: VirtualMachineInstance, gone = false): void {
    const { uid, name, resourceVersion, deletionTimestamp } = metadata;
    this.#expectations.creationObserved(key, name);
    this.#expectations.versionObserved(key, uid, resourceVersion);
    if (gone || deletionTimestamp !== undefined) this.#expectations.deletionObserved(key, uid);
    this.controller.enqueue(key);
  }

  /** If nobody controls it, some replica set of the namespace may want it. */
  #offer(vmi: VirtualMachineInstance): void {
    if (controllerOf(vmi) !== undefined) return;
    for (const { metadata } of this.#replicaSets.byIndex(namespaceIndex, vmi.metadata.namespace ?? ''))
      this.controller.enqueue(keyOf(metadata));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const replicaSet = this.#replicaSets.get(key);
    if (replicaSet === undefined) {
      this.#expectations.forget(key);
      return undefined;
    }
    if (!this.#expectations.satisfied(key)) return { requeueAfter: this.#expectations.lapsesIn(key) };
    const selector = compileLabelSelector(replicaSet.spec.selector);
    const outcome = await this.#sync(replicaSet, selector, signal);
    await this.#writeStatus(replicaSet, selector, outcome, signal);
    if (outcome.error !== undefined) throw outcome.error;
    return undefined;
  }

  async #sync(
    replicaSet: VirtualMachineInstanceReplicaSet,
    selector: LabelMatcher,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const members = await this.#membership.settle(replicaSet, selector, signal);
    const active = members.filter((vmi) => standingOf(vmi) === 'active');
    if (replicaSet.spec.paused === true || replicaSet.metadata.deletionTimestamp !== undefined)
      return { active };
    const { template, replicas = 1 } = replicaSet.spec;
    if (!selector.matches(template.metadata?.labels)) {
      const message = 'spec.selector does not match the labels of spec.template: what is made would be lost';
      return { active, failure: { reason: reasons.failedCreate, message } };
    }
    const outcome =
      active.length < replicas
        ? await this.#scaleUp(replicaSet, active, replicas - active.length, signal)
        : await this.#scaleDown(replicaSet, active, active.length - replicas, signal);
    if (outcome.error !== undefined) return outcome;
    const ended = members.filter((vmi) => standingOf(vmi) === 'ended').slice(0, burstLimit);
    const { error } = await inGrowingBatches(ended, (vmi) =>
      this.#replicas.delete(replicaSet, vmi, 'ended', signal),
    );
    return { ...outcome, ...failed(reasons.failedDelete, error) };
  }

  async #scaleUp(
    replicaSet: VirtualMachineInstanceReplicaSet,
    active: readonly VirtualMachineInstance[],
    missing: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { namespace } = replicaSet.metadata;
    const names = freeNames(replicaSet, Math.min(missing, burstLimit), (name) =>
      this.#membership.isTaken(namespace, name),
    );
    const { done, error } = await inGrowingBatches(names, (name) =>
      this.#replicas.create(replicaSet, name, signal),
    );
    return { active: [...active, ...done], ...failed(reasons.failedCreate, error) };
  }

  async #scaleDown(
    replicaSet: VirtualMachineInstanceReplicaSet,
    active: readonly VirtualMachineInstance[],
    excess: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const doomed = inOrderOfDeletion(active).slice(0, Math.min(excess, burstLimit));
    const { done, error } = await inGrowingBatches(doomed, async (vmi) => {
      await this.#replicas.delete(replicaSet, vmi, 'excess', signal);
      return vmi;
    });
    const deleted = new Set(done);
    return {
      active: active.filter((vmi) => !deleted.has(vmi)),
      ...failed(reasons.failedDelete, error),
    };
  }

  async #writeStatus(
    replicaSet: VirtualMachineInstanceReplicaSet,
    selector: LabelMatcher,
    { active, failure }: Outcome,
    signal: AbortSignal,
  ): Promise<void> {
    const paused = replicaSet.spec.paused === true;
    const status = nextReplicaStatus(replicaSet.status, {
      replicas: active.length,
      readyReplicas: active.filter(isReady).length,
      selector,
      paused: paused ? { reason: 'Paused', message: 'instances are neither made nor deleted' } : undefined,
      failure,
      now: this.deps.clock.now(),
    });
    const { client } = this.deps;
    const written = await patchStatus(client, virtualMachineInstanceReplicaSets, replicaSet, status, signal);
    if (written === undefined) return;
    const key = keyOf(replicaSet.metadata);
    this.#expectations.expectWritten(key, written, this.#replicaSets.get(key));
    const wasPaused = findCondition(replicaSet.status?.conditions, replicaConditions.paused) !== undefined;
    if (paused && !wasPaused)
      this.#recorder.event(replicaSet, 'Normal', 'SuccessfulPaused', 'paused: it is left as it is');
    if (!paused && wasPaused)
      this.#recorder.event(replicaSet, 'Normal', 'SuccessfulResumed', 'resumed: its number is kept again');
  }
}

/** The key of the replica set that controls the instance. */
function ownerKey(vmi: VirtualMachineInstance): string | undefined {
  const owner = controllerOf(vmi);
  if (owner?.kind !== virtualMachineInstanceReplicaSets.kind) return undefined;
  return keyOf({ namespace: vmi.metadata.namespace, name: owner.name });
}

function failed(reason: string, error: Error | undefined): Pick<Outcome, 'failure' | 'error'> {
  if (error === undefined) return {};
  return isAlreadyExists(error) ? { error } : { failure: { reason, message: error.message }, error };
}
