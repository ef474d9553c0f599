/** Makes, keeps, stops and remakes the instance of each VM, as its run strategy and its users ask. */
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { configurationFrom } from '../configuration.js';
import { finalizers, reasons, type RunStrategy } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
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
import { controllerOf, isControlledBy, patchFinalizers } from '../runtime/writes.js';
import { DataVolumes } from './data-volumes.js';
import { InformedReferents } from './instancetype/referents.js';
import { References } from './instancetype/references.js';
import { Instances, type Outcome } from './instances.js';
import { LiveUpdates } from './live-updates.js';
import { observe, unasked, type Findings, type Observation } from './observation.js';
import { decide } from './run-strategy.js';
import { backoffLeft, isFinal } from './start-failure.js';
import { StartRevisions } from './start-revisions.js';
import { pendingRequests, requestsAfter } from './state-change-requests.js';
import type { Drift } from './status.js';
import { StatusWriter } from './status-writer.js';
import { carryVolumeRequests } from './volume-requests.js';
import { watch } from './watches.js';

const name = 'virtualmachine-controller';
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
  readonly #dataVolumes: DataVolumes;
  readonly #liveUpdates: LiveUpdates;
  readonly #statuses: StatusWriter;

  constructor(private readonly deps: ControllerDependencies) {
    const { client, clock, informers } = deps;
    this.#expectations = new Expectations(clock);
    this.#recorder = deps.recorder(name);
    this.#vms = informers.get(virtualMachines);
    this.#vmis = informers.get(virtualMachineInstances);
    const claims = informers.get(persistentVolumeClaims);
    const kubevirts = informers.get(kubeVirts);
    const configuration = (): ReturnType<typeof configurationFrom> => configurationFrom(kubevirts);
    const referents = new InformedReferents(deps);
    const revisions = new StartRevisions(deps);
    this.#dataVolumes = new DataVolumes(client, this.#recorder, claims);
    this.#references = new References(client, referents, configuration);
    this.#instances = new Instances(client, this.#recorder, this.#expectations, revisions);
    this.#liveUpdates = new LiveUpdates(
      client,
      this.#recorder,
      revisions,
      () => configuration().vmRolloutStrategy ?? 'LiveUpdate',
    );
    this.#statuses = new StatusWriter(client, this.#recorder, claims, clock);
    this.controller = new Controller({
      name: 'virtual-machine',
      informers: [this.#vms, this.#vmis, claims, kubevirts, revisions.informer, ...referents.informers],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock,
      workers: 16,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    watch(
      { vms: this.#vms, vmis: this.#vmis, claims, kubeVirts: kubevirts, referents },
      this.#expectations,
      (key, priority) => this.controller.enqueue(key, priority),
      (vmi) => {
        this.#statuses.forget(vmi);
        this.#liveUpdates.forget(vmi.metadata.uid);
      },
    );
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
    if (found !== undefined && controllerOf(found) === undefined) {
      await this.#instances.adopt(vm, found, signal);
      return undefined;
    }
    if (found !== undefined && !isControlledBy(found, vm)) return this.#nameTaken(vm, found, signal);
    const findings = await this.#ask(vm, found, signal);
    if (findings.kind === 'rewritten') {
      this.#expect(findings.vm);
      return undefined;
    }
    const result = await this.#sync(this.#observe(vm, found, findings), signal);
    if (findings.volumes.kind === 'refused') throw findings.volumes.error;
    return result;
  }

  /** Settles what the VM is, writing it into the VM itself where it belongs there. */
  async #ask(
    vm: VirtualMachine,
    found: VirtualMachineInstance | undefined,
    signal: AbortSignal,
  ): Promise<(Findings & { kind: 'asked' }) | { kind: 'rewritten'; vm: VirtualMachine }> {
    const { client } = this.deps;
    const finalizer = finalizers.virtualMachine;
    const finalized = await patchFinalizers(client, virtualMachines, vm, { add: finalizer }, signal);
    if (finalized !== undefined) return { kind: 'rewritten', vm: finalized };
    const volumes = await carryVolumeRequests(client, vm, signal);
    if (volumes.kind === 'rewritten') return volumes;
    const settled = await this.#references.settle(vm, signal);
    if (settled.kind === 'rewritten') return settled;
    const drift: Drift =
      settled.kind === 'settled' && found !== undefined
        ? await this.#liveUpdates.follow(vm, settled.vm, found, signal)
        : { kind: 'unknown' };
    const dataVolumes = await this.#dataVolumes.ensure(vm, signal);
    return { kind: 'asked', settled, drift, dataVolumes, volumes };
  }

  #observe(
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | undefined,
    findings: Findings = unasked(vm),
  ): Observation {
    return observe(vm, vmi, findings, this.deps.clock.now(), this.deps.random);
  }

  async #sync(observation: Observation, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { vm, vmi, runStrategy } = observation;
    const situation = { ...observation, observedRunStrategy: vm.status?.runStrategy };
    const action = decide(situation);
    if (action.kind === 'setRunStrategy') {
      await this.#setRunStrategy(vm, action.runStrategy, signal);
      return undefined;
    }
    const outcome: Outcome =
      action.kind === 'start' ? await this.#start(observation, action.paused, signal) : { vmi };
    const left = pendingRequests(requestsAfter(action, situation, outcome.vmi), outcome.vmi);
    const stopping = observation.stopping || (action.kind === 'stop' && vmi !== undefined && !isFinal(vmi));
    const changed = { ...observation, runStrategy, requests: left, stopping };
    const waiting = await this.#writeStatus(changed, outcome, signal);
    await this.#references.remove(vm, observation.superseded, signal);
    if (action.kind === 'stop' && vmi !== undefined) await this.#instances.delete(vm, vmi, signal);
    if (outcome.error !== undefined) throw outcome.error;
    const importing = observation.dataVolumes.kind === 'ready' ? undefined : importPatience;
    const requeueAfter = outcome.requeueAfter ?? waiting ?? importing;
    return requeueAfter === undefined ? undefined : { requeueAfter };
  }

  async #start(
    { stored, vm, startFailure, unsettled, dataVolumes }: Observation,
    paused: boolean,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (unsettled !== undefined) return { vmi: undefined };
    if (dataVolumes.kind !== 'ready') return { vmi: undefined };
    const wait = backoffLeft(startFailure, this.deps.clock.now());
    if (wait > 0) return { vmi: undefined, requeueAfter: wait };
    return this.#instances.create(stored, vm, paused, signal);
  }

  /** Returns after how long to look again. */
  async #writeStatus(
    observation: Observation,
    outcome: Outcome,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { written, lookAgainAfter } = await this.#statuses.write(observation, outcome, signal);
    if (written !== undefined) this.#expect(written);
    return lookAgainAfter;
  }

  /** What the informer shows until it has caught up is stale. */
  #expect(written: VirtualMachine): undefined {
    const key = keyOf(written.metadata);
    this.#expectations.expectWritten(key, written, this.#vms.get(key));
  }

  async #setRunStrategy(vm: VirtualMachine, runStrategy: RunStrategy, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = vm.metadata;
    const spec = vm.spec.runStrategy === undefined ? { running: true } : { runStrategy };
    const body = { metadata: { uid, resourceVersion }, spec };
    const patch = { type: 'merge', body } as const;
    this.#expect(await this.deps.client.patch(virtualMachines, vm.metadata, patch, undefined, signal));
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
      try {
        const written = await patchFinalizers(client, virtualMachines, vm, { remove }, signal);
        if (written !== undefined) this.#expect(written);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      return undefined;
    }
    await this.#writeStatus(this.#observe(vm, vmi), { vmi }, signal);
    if (vmi.metadata.deletionTimestamp === undefined) await this.#instances.delete(vm, vmi, signal);
    return undefined;
  }
}
