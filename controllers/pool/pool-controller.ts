/** Keeps each pool's number of VMs, brings them to its template, and makes those anew that do not start. */
import type { ControllerRevision } from '../../openapi/generated/types/apps_v1.js';
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachinePool } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { compileLabelSelector, type LabelMatcher } from '../../openapi/selectors.js';
import { conditionTypes } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { nextReplicaStatus, replicaConditions } from '../replica-status.js';
import { findCondition, isConditionTrue } from '../runtime/conditions.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { Expectations } from '../runtime/expectations.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import {
  controllerRevisions,
  nodes,
  virtualMachineInstances,
  virtualMachinePools,
  virtualMachines,
} from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerOf, isControlledBy, patchOwnerReferences, patchStatus } from '../runtime/writes.js';
import { Machines, type Machine } from './machines.js';
import { createMachineRelease } from './release.js';
import { Revisions, revisionSelector } from './revisions.js';
import { PoolSync, type Outcome } from './sync.js';

const component = 'virtualmachinepool-controller';

export function createPoolController(deps: ControllerDependencies): Runnable {
  const { controller } = new PoolController(deps);
  const release = createMachineRelease(deps);
  return {
    run: async (signal) => {
      await Promise.all([controller.run(signal), release.run(signal)]);
    },
  };
}

class PoolController {
  readonly controller: Controller;
  readonly #expectations: Expectations;
  readonly #recorder: EventRecorder;
  readonly #pools: Informer<VirtualMachinePool>;
  readonly #vms: Informer<VirtualMachine>;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #revisions: Informer<ControllerRevision>;
  readonly #nodes: Informer<Node>;
  readonly #machines: Machines;
  readonly #sync: PoolSync;

  constructor(private readonly deps: ControllerDependencies) {
    const { client, informers, clock, random } = deps;
    this.#expectations = new Expectations(clock);
    this.#recorder = deps.recorder(component);
    this.#pools = informers.get(virtualMachinePools);
    this.#vms = informers.get(virtualMachines);
    this.#vmis = informers.get(virtualMachineInstances);
    this.#revisions = informers.get(controllerRevisions, { labelSelector: revisionSelector });
    this.#nodes = informers.get(nodes);
    this.#machines = new Machines(client, this.#recorder, this.#expectations, this.#vms);
    this.#sync = new PoolSync({
      machines: this.#machines,
      revisions: new Revisions(client, this.#revisions, this.#expectations),
      isTaken: (key) => this.#vms.get(key) !== undefined,
      nodeOf: ({ vmi }) => this.#nodes.get(vmi?.status?.nodeName ?? ''),
      clock,
      random,
    });
    this.controller = new Controller({
      name: 'pool',
      informers: [this.#pools, this.#vms, this.#vmis, this.#revisions, this.#nodes],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const enqueue = ({ metadata }: VirtualMachinePool): void => {
      const key = keyOf(metadata);
      this.#expectations.versionObserved(key, metadata.uid, metadata.resourceVersion);
      this.controller.enqueue(key);
    };
    this.#pools.addHandler({
      add: enqueue,
      update: (_, pool) => enqueue(pool),
      delete: ({ metadata }) => {
        this.#expectations.forget(keyOf(metadata));
        this.controller.enqueue(keyOf(metadata));
      },
    });
    const observe = (object: KubernetesObject): void => this.#observe(poolKey(object), object);
    const observeEnd = (object: KubernetesObject): void => this.#observe(poolKey(object), object, true);
    this.#vms.addHandler({
      add: observe,
      update: (before, vm) => {
        for (const key of new Set([poolKey(before), poolKey(vm)])) this.#observe(key, vm);
      },
      delete: observeEnd,
    });
    this.#revisions.addHandler({ add: observe, delete: observeEnd });
    const instanceChanged = (vmi: VirtualMachineInstance, gone = false): void => {
      const { uid, deletionTimestamp } = vmi.metadata;
      if (gone || deletionTimestamp !== undefined) this.#machines.instanceEnds(uid);
      const vm = this.#vms.get(keyOf(vmi.metadata));
      const key = vm !== undefined && isControlledBy(vmi, vm) ? poolKey(vm) : undefined;
      if (key !== undefined) this.controller.enqueue(key);
    };
    this.#vmis.addHandler({
      add: (vmi) => instanceChanged(vmi),
      update: (_, vmi) => instanceChanged(vmi),
      delete: (vmi) => instanceChanged(vmi, true),
    });
  }

  /** Something of the pool has changed, or is part of it no more. */
  #observe(key: string | undefined, { metadata }: KubernetesObject, gone = false): void {
    if (key === undefined) return;
    const { uid, name, resourceVersion, deletionTimestamp } = metadata;
    this.#expectations.creationObserved(key, name);
    this.#expectations.versionObserved(key, uid, resourceVersion);
    if (gone || deletionTimestamp !== undefined) this.#expectations.deletionObserved(key, uid);
    this.controller.enqueue(key);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const pool = this.#pools.get(key);
    if (pool === undefined) {
      this.#expectations.forget(key);
      return undefined;
    }
    if (!this.#expectations.satisfied(key)) return { requeueAfter: this.#expectations.lapsesIn(key) };
    const selector = compileLabelSelector(pool.spec.selector);
    const members = await this.#members(pool, selector, signal);
    const idle = pool.spec.paused === true || pool.metadata.deletionTimestamp !== undefined;
    const outcome = idle ? { machines: members } : await this.#sync.run(pool, selector, members, signal);
    await this.#writeStatus(pool, selector, outcome, signal);
    if (outcome.error !== undefined) throw outcome.error;
    return outcome.requeueAfter === undefined ? undefined : { requeueAfter: outcome.requeueAfter };
  }

  /**
   * The VMs that the pool controls, but for those that its selector no longer finds, which it lets go. It takes none in: a user
   * takes a VM out of a pool by taking away its owner.
   */
  async #members(pool: VirtualMachinePool, selector: LabelMatcher, signal: AbortSignal): Promise<Machine[]> {
    const { uid, deletionTimestamp } = pool.metadata;
    const members: Machine[] = [];
    for (const vm of this.#vms.byIndex(controllerIndex, uid)) {
      if (deletionTimestamp !== undefined || selector.matches(vm.metadata.labels)) {
        const vmi = this.#vmis.get(keyOf(vm.metadata));
        members.push({ vm, vmi: vmi !== undefined && isControlledBy(vmi, vm) ? vmi : undefined });
        continue;
      }
      const written = await patchOwnerReferences(
        this.deps.client,
        virtualMachines,
        vm,
        { remove: uid },
        signal,
      );
      if (written !== undefined) this.#expectations.expectWritten(keyOf(pool.metadata), written, vm);
    }
    return members;
  }

  async #writeStatus(
    pool: VirtualMachinePool,
    selector: LabelMatcher,
    { machines, failure }: Outcome,
    signal: AbortSignal,
  ): Promise<void> {
    const paused = pool.spec.paused === true;
    const status = nextReplicaStatus(pool.status, {
      replicas: machines.length,
      readyReplicas: machines.filter(({ vm }) => isConditionTrue(vm.status?.conditions, conditionTypes.ready))
        .length,
      selector,
      paused: paused
        ? { reason: 'SuccessfulPaused', message: 'virtual machines are neither made, changed nor deleted' }
        : undefined,
      failure,
      now: this.deps.clock.now(),
    });
    const written = await patchStatus(this.deps.client, virtualMachinePools, pool, status, signal);
    if (written === undefined) return;
    const key = keyOf(pool.metadata);
    this.#expectations.expectWritten(key, written, this.#pools.get(key));
    this.#tell(pool, paused, failure);
  }

  #tell(pool: VirtualMachinePool, paused: boolean, failure: Outcome['failure']): void {
    const had = (type: string): boolean => findCondition(pool.status?.conditions, type) !== undefined;
    if (failure !== undefined && !had(replicaConditions.failure))
      this.#recorder.event(pool, 'Warning', failure.reason, failure.message);
    if (paused && !had(replicaConditions.paused))
      this.#recorder.event(pool, 'Normal', 'SuccessfulPaused', 'paused: it is left as it is');
    if (!paused && had(replicaConditions.paused))
      this.#recorder.event(
        pool,
        'Normal',
        'SuccessfulResume',
        'resumed: its virtual machines are kept again',
      );
  }
}

/** The key of the pool that controls the object. */
function poolKey(object: KubernetesObject): string | undefined {
  const owner = controllerOf(object);
  if (owner?.kind !== virtualMachinePools.kind) return undefined;
  return keyOf({ namespace: object.metadata.namespace, name: owner.name });
}
