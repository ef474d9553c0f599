/** Makes, keeps, stops and remakes the instance of each VM, as its run strategy and its users ask. */
import type {
  KubeVirt,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStateChangeRequest,
  VirtualMachineStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { claimIndex, claimKeys, findClaims } from '../claims.js';
import { configurationFrom } from '../configuration.js';
import { conditionTypes, finalizers, reasons, type RunStrategy } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Patience } from '../patience.js';
import { findCondition } from '../runtime/conditions.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { Expectations } from '../runtime/expectations.js';
import type { Informer } from '../runtime/informer.js';
import {
  kubeVirts,
  persistentVolumeClaims,
  virtualMachineInstances,
  virtualMachines,
} from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import type { Priority } from '../runtime/waiting-keys.js';
import { controllerOf, isControlledBy, patchFinalizers, patchStatus } from '../runtime/writes.js';
import { DataVolumes, dataVolumesReady, failureOf } from './data-volumes.js';
import { InformedReferents, referentIndex, referentsOf } from './instancetype/referents.js';
import { References } from './instancetype/references.js';
import { Instances, type Outcome } from './instances.js';
import { observe, type Observation } from './observation.js';
import { isPassing, passingKey, passingPatience } from './passing.js';
import { decide, type Action } from './run-strategy.js';
import { backoffLeft, isFinal } from './start-failure.js';
import { pendingRequests, startRequest } from './state-change-requests.js';
import { nextStatus } from './status.js';

const name = 'virtualmachine-controller';
/** A claim is bound in less: only one that stays unbound is worth a word in the status. Milliseconds. */
const claimPatience = 5000;
/** How often a data volume is looked at whose claim has not changed meanwhile. */
const importPatience = 30_000;

export function createVirtualMachineController(deps: ControllerDependencies): Runnable {
  return new VirtualMachineController(deps).controller;
}

class VirtualMachineController {
  readonly controller: Controller;
  readonly #expectations: Expectations;
  readonly #instances: Instances;
  readonly #references: References;
  readonly #recorder: EventRecorder;
  readonly #vms: Informer<VirtualMachine>;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #claims;
  readonly #passing: Patience;
  readonly #dataVolumes: DataVolumes;

  constructor(private readonly deps: ControllerDependencies) {
    this.#expectations = new Expectations(deps.clock);
    this.#passing = new Patience(deps.clock);
    this.#recorder = deps.recorder(name);
    this.#instances = new Instances(deps.client, this.#recorder, this.#expectations);
    this.#vms = deps.informers.get(virtualMachines);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#claims = deps.informers.get(persistentVolumeClaims);
    this.#dataVolumes = new DataVolumes(deps.client, this.#recorder, this.#claims);
    const kubevirts = deps.informers.get(kubeVirts);
    const referents = new InformedReferents(deps);
    this.#references = new References(deps.client, referents, () => configurationFrom(kubevirts));
    this.#vms.addIndex(claimIndex, ({ metadata, spec }) => [
      ...claimKeys(metadata.namespace, spec.template.spec),
      ...(spec.dataVolumeTemplates ?? []).map((each) => `${metadata.namespace ?? ''}/${each.metadata.name}`),
    ]);
    this.#vms.addIndex(referentIndex, referentsOf);
    this.controller = new Controller({
      name: 'virtual-machine',
      informers: [this.#vms, this.#vmis, this.#claims, kubevirts, ...referents.informers],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      workers: 8,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
    this.#listenForReferents(kubevirts, referents);
  }

  #listen(): void {
    const enqueue = (vm: VirtualMachine, priority: Priority): void => {
      const key = keyOf(vm.metadata);
      this.#expectations.versionObserved(key, vm.metadata.uid, vm.metadata.resourceVersion);
      this.controller.enqueue(key, priority);
    };
    this.#vms.addHandler({
      add: (vm) => enqueue(vm, 'low'),
      update: (_, vm) => enqueue(vm, 'normal'),
      delete: (vm) => {
        this.#expectations.forget(keyOf(vm.metadata));
        this.controller.enqueue(keyOf(vm.metadata));
      },
    });
    this.#vmis.addHandler({
      add: (vmi) => {
        this.#expectations.creationObserved(keyOf(vmi.metadata), vmi.metadata.name);
        this.#enqueueOwner(vmi);
      },
      update: (_, vmi) => {
        const { uid, deletionTimestamp } = vmi.metadata;
        if (deletionTimestamp !== undefined) this.#expectations.deletionObserved(keyOf(vmi.metadata), uid);
        this.#enqueueOwner(vmi);
      },
      delete: (vmi) => {
        for (const starts of [true, false]) this.#passing.end(passingKey(vmi, starts));
        this.#expectations.deletionObserved(keyOf(vmi.metadata), vmi.metadata.uid);
        this.#enqueueOwner(vmi);
      },
    });
    const claimChanged = (claim: { metadata: { namespace?: string; name: string } }): void => {
      for (const vm of this.#vms.byIndex(claimIndex, keyOf(claim.metadata)))
        this.controller.enqueue(keyOf(vm.metadata));
    };
    this.#claims.addHandler({ add: claimChanged, update: (_, claim) => claimChanged(claim) });
  }

  #listenForReferents(kubevirts: Informer<KubeVirt>, referents: InformedReferents): void {
    referents.onChange((value) => {
      for (const vm of this.#vms.byIndex(referentIndex, value)) this.controller.enqueue(keyOf(vm.metadata));
    });
    // The policy of references may have changed.
    kubevirts.addHandler({
      update: () => {
        for (const vm of this.#vms.list())
          if (referentsOf(vm).length > 0) this.controller.enqueue(keyOf(vm.metadata));
      },
    });
  }

  /** An instance has its VM's name, owned or (after an orphaning delete) not. */
  #enqueueOwner(vmi: VirtualMachineInstance): void {
    const owner = controllerOf(vmi);
    if (owner === undefined || owner.kind === virtualMachines.kind)
      this.controller.enqueue(keyOf(vmi.metadata));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const vm = this.#vms.get(key);
    if (vm === undefined) {
      this.#expectations.forget(key);
      return undefined;
    }
    if (!this.#expectations.satisfied(key)) return { requeueAfter: this.#expectations.lapsesIn(key) };
    const found = this.#vmis.get(key);
    if (vm.metadata.deletionTimestamp !== undefined) return this.#finalize(vm, found, signal);
    if (
      await this.#written(
        key,
        patchFinalizers(this.deps.client, virtualMachines, vm, { add: finalizers.virtualMachine }, signal),
      )
    )
      return undefined;
    if (found !== undefined && controllerOf(found) === undefined) {
      await this.#instances.adopt(vm, found, signal);
      return undefined;
    }
    if (found !== undefined && !isControlledBy(found, vm)) return this.#nameTaken(vm, found, signal);
    const settled = await this.#references.settle(vm, signal);
    if (settled.kind === 'rewritten') {
      this.#expect(key, settled.vm);
      return undefined;
    }
    const dataVolumes = await this.#dataVolumes.ensure(vm, signal);
    return this.#sync(this.#observe(vm, found, settled, dataVolumes), signal);
  }

  #observe(
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | undefined,
    settled?: Parameters<typeof observe>[2],
    dataVolumes = dataVolumesReady,
  ): Observation {
    return observe(vm, vmi, settled, this.deps.clock.now(), this.deps.random, dataVolumes);
  }

  async #sync(observation: Observation, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { vm, vmi, runStrategy } = observation;
    const action = decide({ ...observation, observedRunStrategy: vm.status?.runStrategy });
    if (action.kind === 'setRunStrategy') {
      await this.#setRunStrategy(vm, action.runStrategy, signal);
      return undefined;
    }
    const outcome: Outcome =
      action.kind === 'start' ? await this.#start(observation, action.paused, signal) : { vmi };
    const left = pendingRequests(nextRequests(observation, action, outcome), outcome.vmi);
    const stopping = observation.stopping || (action.kind === 'stop' && vmi !== undefined && !isFinal(vmi));
    const changed = { ...observation, runStrategy, requests: left, stopping };
    const waiting = await this.#writeStatus(changed, outcome, signal);
    await this.#references.remove(vm, observation.superseded, signal);
    if (action.kind === 'stop' && vmi !== undefined) await this.#instances.delete(vm, vmi, signal);
    if (outcome.error !== undefined) throw outcome.error;
    const requeueAfter = outcome.requeueAfter ?? waiting;
    return requeueAfter === undefined ? undefined : { requeueAfter };
  }

  async #start(
    { vm, startFailure, unsettled, dataVolumes }: Observation,
    paused: boolean,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (unsettled !== undefined) return { vmi: undefined };
    if (dataVolumes.kind !== 'ready') return { vmi: undefined, requeueAfter: importPatience };
    const wait = backoffLeft(startFailure, this.deps.clock.now());
    return wait > 0 ? { vmi: undefined, requeueAfter: wait } : this.#instances.create(vm, paused, signal);
  }

  /** Returns after how long to look again. */
  async #writeStatus(
    observation: Observation,
    outcome: Outcome,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { stored, vm, unsettled } = observation;
    const now = this.deps.clock.now();
    const unbound = findClaims(this.#claims, vm.metadata.namespace, vm.spec.template.spec)
      .filter(({ object }) => object?.status?.phase === 'Pending')
      .map(({ object }) => now - Date.parse(object?.metadata.creationTimestamp ?? ''));
    const oldest = Math.max(...unbound, Number.NEGATIVE_INFINITY);
    const status = nextStatus({
      ...observation,
      vmi: outcome.vmi,
      failure: outcome.failure ?? unsettled ?? failureOf(observation.dataVolumes),
      waitsForVolumes: oldest >= claimPatience,
      now,
    });
    const passing = this.#passesFor(stored, outcome.vmi, status);
    if (passing > 0) return passing;
    await this.#written(
      keyOf(vm.metadata),
      patchStatus(this.deps.client, virtualMachines, stored, status, signal),
    );
    if (
      unsettled !== undefined &&
      findCondition(stored.status?.conditions, conditionTypes.failure)?.message !== unsettled.message
    )
      this.#recorder.event(stored, 'Warning', unsettled.reason, unsettled.message);
    return unbound.length > 0 && oldest < claimPatience ? claimPatience - oldest : undefined;
  }

  /** For how many milliseconds more the status need not be told. */
  #passesFor(
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | undefined,
    wanted: VirtualMachineStatus,
  ): number {
    if (vmi === undefined) return 0;
    const key = passingKey(vmi, wanted.printableStatus === 'Starting');
    if (isPassing(vm, wanted)) return passingPatience - this.#passing.waited(key);
    this.#passing.end(key);
    return 0;
  }

  /** True if something was written; what the informer shows until it has caught up is then stale. */
  async #written(key: string, write: Promise<VirtualMachine | undefined>): Promise<boolean> {
    const result = await write;
    if (result === undefined) return false;
    this.#expect(key, result);
    return true;
  }

  #expect(key: string, { metadata }: VirtualMachine): void {
    // The informer may have been faster than the answer.
    if (this.#vms.get(key)?.metadata.resourceVersion === metadata.resourceVersion) return;
    this.#expectations.expectVersion(key, metadata.uid, metadata.resourceVersion);
    const seen = this.#vms.get(key);
    if (seen !== undefined)
      this.#expectations.versionObserved(key, seen.metadata.uid, seen.metadata.resourceVersion);
  }

  async #setRunStrategy(vm: VirtualMachine, runStrategy: RunStrategy, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = vm.metadata;
    const spec = vm.spec.runStrategy === undefined ? { running: true } : { runStrategy };
    const body = { metadata: { uid, resourceVersion }, spec };
    const patch = this.deps.client.patch(
      virtualMachines,
      vm.metadata,
      { type: 'merge', body },
      undefined,
      signal,
    );
    await this.#written(keyOf(vm.metadata), patch);
  }

  async #nameTaken(
    vm: VirtualMachine,
    vmi: VirtualMachineInstance,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const owner = controllerOf(vmi);
    const message = `virtual machine instance ${vmi.metadata.name} belongs to ${owner?.kind ?? ''} ${owner?.name ?? ''}; rename one of them`;
    const failure = { reason: reasons.failedCreate, message };
    await this.#writeStatus(this.#observe(vm, undefined), { vmi: undefined, failure }, signal);
    return undefined;
  }

  /** The VM goes when its instance has gone, unless its dependents are to outlive it. */
  async #finalize(
    vm: VirtualMachine,
    found: VirtualMachineInstance | undefined,
    signal: AbortSignal,
  ): Promise<undefined> {
    const { client } = this.deps;
    const orphaning = vm.metadata.finalizers?.includes(finalizers.orphan) === true;
    const vmi = found !== undefined && isControlledBy(found, vm) ? found : undefined;
    if (vmi === undefined || orphaning) {
      const remove = [finalizers.virtualMachine];
      await this.#written(
        keyOf(vm.metadata),
        patchFinalizers(client, virtualMachines, vm, { remove }, signal).catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        }),
      );
      return undefined;
    }
    await this.#writeStatus(this.#observe(vm, vmi), { vmi }, signal);
    if (vmi.metadata.deletionTimestamp === undefined) await this.#instances.delete(vm, vmi, signal);
    return undefined;
  }
}

/** What is to come must be on record before what it follows from is gone. */
function nextRequests(
  { vmi, runStrategy, requests }: Observation,
  action: Action,
  outcome: Outcome,
): readonly VirtualMachineStateChangeRequest[] {
  if (startRequest(requests) !== undefined) return requests;
  if (action.kind === 'stop' && action.restart) return [...requests, ...restartRequests(vmi)];
  // This strategy starts a VM when it has just been chosen: once the status names it, only the request tells.
  const owed = action.kind === 'start' && runStrategy === 'RerunOnFailure' && outcome.vmi === undefined;
  return owed ? [...requests, { action: 'Start' }] : requests;
}

/** A start waits behind its stop. */
function restartRequests(vmi: VirtualMachineInstance | undefined): VirtualMachineStateChangeRequest[] {
  const stop = vmi === undefined ? [] : [{ action: 'Stop', uid: vmi.metadata.uid }];
  return [...stop, { action: 'Start' }];
}
