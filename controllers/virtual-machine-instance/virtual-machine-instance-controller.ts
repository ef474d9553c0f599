/** Makes the launcher pod of each VMI, and carries the VMI through its phases until a node agent takes over. */
import type { Node, PersistentVolumeClaim, Pod } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirt, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { claimIndex, claimKeys, findClaims } from '../claims.js';
import { configurationFrom } from '../configuration.js';
import { finalizers, labels, launcherApp, phases, reasons } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import type { LauncherPodSettings } from '../launcher-pod/settings.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { Expectations } from '../runtime/expectations.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import { kubeVirts, nodes, persistentVolumeClaims, pods, virtualMachineInstances } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import type { Priority } from '../runtime/waiting-keys.js';
import { controllerOf, patchFinalizers, patchStatus } from '../runtime/writes.js';
import { ContextIds } from './context-ids.js';
import { withTopologyHints } from '../topology/hints.js';
import { LauncherPods } from './launcher-pods.js';
import { PersistentState } from './persistent-state.js';
import { Patience } from '../patience.js';
import { NamespaceLimits } from './namespace-limits.js';
import { nextTransition } from './phase.js';
import { isPodFinal, type Problem } from './pod-state.js';
import { metadataPatch } from './pod-metadata.js';
import { gatedStatus } from './readiness-gate.js';
import { isHandedOver, nextStatus } from './status.js';

export interface LauncherImage {
  readonly launcherImage: string;
  readonly imagePullSecrets?: readonly string[];
  /** As of `LauncherPodSettings`; false if absent. */
  readonly devicePlugins?: boolean;
}

const component = 'virtualmachineinstance-controller';

export function createVirtualMachineInstanceController(
  deps: ControllerDependencies,
  launcher: LauncherImage,
): Runnable {
  return new VirtualMachineInstanceController(deps, launcher).controller;
}

interface Attempt {
  readonly pod: Pod | undefined;
  readonly problem?: Problem;
  readonly error?: Error;
}

class VirtualMachineInstanceController {
  readonly controller: Controller;
  readonly #expectations: Expectations;
  readonly #launcherPods: LauncherPods;
  readonly #recorder: EventRecorder;
  readonly #lost: Patience;
  readonly #persistentState: PersistentState;
  readonly #contextIds: ContextIds;
  readonly #limits: NamespaceLimits;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #pods: Informer<Pod>;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #kubeVirts: Informer<KubeVirt>;
  readonly #nodes: Informer<Node>;

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly launcher: LauncherImage,
  ) {
    this.#expectations = new Expectations(deps.clock);
    this.#recorder = deps.recorder(component);
    this.#launcherPods = new LauncherPods(deps.client, this.#recorder, this.#expectations);
    this.#lost = new Patience(deps.clock);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#pods = deps.informers.get(pods, { labelSelector: `${labels.app}=${launcherApp}` });
    this.#claims = deps.informers.get(persistentVolumeClaims);
    this.#kubeVirts = deps.informers.get(kubeVirts);
    this.#nodes = deps.informers.get(nodes);
    this.#persistentState = new PersistentState(deps.client, this.#claims);
    this.#contextIds = new ContextIds(this.#vmis, deps.random);
    this.#limits = new NamespaceLimits(deps.informers);
    this.#vmis.addIndex(claimIndex, (vmi) => claimKeys(vmi.metadata.namespace, vmi.spec));
    this.controller = new Controller({
      name: 'virtual-machine-instance',
      informers: [this.#vmis, this.#pods, this.#claims, this.#kubeVirts, this.#nodes, this.#limits.quotas],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      workers: 32,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const enqueue = (vmi: VirtualMachineInstance, priority: Priority): void => {
      const key = keyOf(vmi.metadata);
      this.#expectations.versionObserved(key, vmi.metadata.uid, vmi.metadata.resourceVersion);
      this.controller.enqueue(key, priority);
    };
    this.#vmis.addHandler({
      add: (vmi) => enqueue(vmi, 'low'),
      update: (_, vmi) => enqueue(vmi, 'normal'),
      delete: (vmi) => {
        const key = keyOf(vmi.metadata);
        this.#expectations.forget(key);
        this.#lost.end(vmi.metadata.uid);
        this.controller.enqueue(key);
      },
    });
    this.#pods.addHandler({
      add: (pod) =>
        this.#podChanged(pod, (key) => this.#expectations.creationObserved(key, pod.metadata.name)),
      update: (_, pod) =>
        this.#podChanged(pod, (key) => {
          if (pod.metadata.deletionTimestamp !== undefined)
            this.#expectations.deletionObserved(key, pod.metadata.uid);
        }),
      delete: (pod) =>
        this.#podChanged(pod, (key) => this.#expectations.deletionObserved(key, pod.metadata.uid)),
    });
    const claimChanged = (claim: PersistentVolumeClaim): void => {
      for (const vmi of this.#vmis.byIndex(claimIndex, keyOf(claim.metadata)))
        if (!isHandedOver(vmi.status?.phase)) this.controller.enqueue(keyOf(vmi.metadata));
    };
    this.#claims.addHandler({ add: claimChanged, update: (_, claim) => claimChanged(claim) });
  }

  #podChanged(pod: Pod, observe: (key: string) => void): void {
    const owner = controllerOf(pod);
    if (owner?.kind !== virtualMachineInstances.kind) return;
    const key = keyOf({ namespace: pod.metadata.namespace, name: owner.name });
    observe(key);
    this.controller.enqueue(key);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const vmi = this.#vmis.get(key);
    if (vmi === undefined) {
      this.#expectations.forget(key);
      return undefined;
    }
    if (!this.#expectations.satisfied(key)) return { requeueAfter: this.#expectations.lapsesIn(key) };
    const launched = this.#pods.byIndex(controllerIndex, vmi.metadata.uid);
    if (vmi.metadata.deletionTimestamp !== undefined) return this.#finalize(vmi, launched, signal);
    const finalizer = finalizers.virtualMachineInstance;
    const write = patchFinalizers(this.deps.client, virtualMachineInstances, vmi, { add: finalizer }, signal);
    if (await this.#written(key, write)) return undefined;
    return this.#sync(vmi, newest(launched), signal);
  }

  async #sync(
    vmi: VirtualMachineInstance,
    existing: Pod | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const phase = vmi.status?.phase;
    const unborn =
      existing === undefined && (phase === undefined || phase === '' || phase === phases.pending);
    const hinted = withTopologyHints(vmi, existing, this.#nodes, configurationFrom(this.#kubeVirts));
    const attempt: Attempt = unborn ? await this.#launch(hinted, signal) : { pod: existing };
    const requeueAfter = await this.#writeStatus(vmi, attempt, signal, hinted);
    if (existing !== undefined) await this.#syncPod(vmi, existing, signal);
    if (attempt.error !== undefined) throw attempt.error;
    return requeueAfter === undefined ? undefined : { requeueAfter };
  }

  /** What its pod has to show of the VMI. */
  async #syncPod(vmi: VirtualMachineInstance, pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.deps;
    const metadata = metadataPatch(vmi, pod);
    const status = gatedStatus(vmi, pod, clock.now());
    const { uid } = pod.metadata;
    try {
      if (status !== undefined) await patchStatus(client, pods, pod, status, signal);
      if (metadata === undefined) return;
      const body = { metadata: { uid, ...metadata } };
      await client.patch(pods, pod.metadata, { type: 'merge', body }, undefined, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #launch(vmi: VirtualMachineInstance, signal: AbortSignal): Promise<Attempt> {
    const claims = findClaims(this.#claims, vmi.metadata.namespace, vmi.spec);
    const missing = claims.find(({ object }) => object === undefined);
    if (missing !== undefined) {
      const message = `volume ${missing.volume}: the persistent volume claim ${missing.claim} does not exist`;
      return { pod: undefined, problem: { reason: reasons.claimNotFound, message } };
    }
    const settings = this.#settings();
    await this.#persistentState.ensure(vmi, settings.configuration, signal);
    const blocks = claims.filter(({ object }) => object?.spec?.volumeMode === 'Block');
    const names = new Set(blocks.map(({ volume }) => volume));
    const { namespace = '' } = vmi.metadata;
    const automaticLimits = await this.#limits.of(namespace, settings.configuration, signal);
    const created = await this.#launcherPods.create(vmi, { ...settings, automaticLimits }, names, signal);
    return created.kind === 'created'
      ? { pod: created.pod }
      : { pod: undefined, problem: created.problem, error: created.error };
  }

  #settings(): LauncherPodSettings {
    const { launcherImage, imagePullSecrets = [], devicePlugins = false } = this.launcher;
    const configuration = configurationFrom(this.#kubeVirts);
    return { launcherImage, imagePullSecrets, devicePlugins, configuration };
  }

  /** Returns after how many milliseconds to look again. */
  async #writeStatus(
    vmi: VirtualMachineInstance,
    { pod, problem }: Attempt,
    signal: AbortSignal,
    hinted = vmi,
  ): Promise<number | undefined> {
    const claims = new Map(
      findClaims(this.#claims, vmi.metadata.namespace, vmi.spec).flatMap(({ volume, object }) =>
        object === undefined ? [] : [[volume, object] as const],
      ),
    );
    const transition = nextTransition({ vmi, pod, lostFor: this.#lostFor(vmi, pod) });
    const status = nextStatus({
      vmi: hinted,
      pod,
      transition,
      problem,
      claims,
      configuration: this.#settings().configuration,
      contextId: this.#contextIds.of(vmi),
      now: this.deps.clock.now(),
    });
    const write = patchStatus(this.deps.client, virtualMachineInstances, vmi, status, signal);
    const changed = await this.#written(keyOf(vmi.metadata), write);
    if (changed) this.#tell(vmi, problem ?? (transition.kind === 'fail' ? transition.why : undefined));
    return transition.kind === 'wait' ? transition.ms : undefined;
  }

  /** A refused pod has its event already. */
  #tell(vmi: VirtualMachineInstance, problem: Problem | undefined): void {
    if (problem === undefined || problem.reason === reasons.failedCreate) return;
    this.#recorder.event(vmi, 'Warning', problem.reason, problem.message);
  }

  #lostFor(vmi: VirtualMachineInstance, pod: Pod | undefined): number {
    const { uid } = vmi.metadata;
    if (pod === undefined || isPodFinal(pod)) return this.#lost.waited(uid);
    this.#lost.end(uid);
    return 0;
  }

  /** The VMI goes when its pods have gone. */
  async #finalize(
    vmi: VirtualMachineInstance,
    launched: readonly Pod[],
    signal: AbortSignal,
  ): Promise<undefined> {
    const { client } = this.deps;
    if (launched.length > 0) {
      await this.#writeStatus(vmi, { pod: newest(launched) }, signal);
      for (const pod of launched) await this.#launcherPods.delete(vmi, pod, signal);
      return undefined;
    }
    const remove = [finalizers.virtualMachineInstance, finalizers.deprecatedVirtualMachineInstance];
    try {
      await this.#written(
        keyOf(vmi.metadata),
        patchFinalizers(client, virtualMachineInstances, vmi, { remove }, signal),
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return undefined;
  }

  /** True if something was written; what the informer shows until it has caught up is then stale. */
  async #written(key: string, write: Promise<VirtualMachineInstance | undefined>): Promise<boolean> {
    const result = await write;
    if (result === undefined) return false;
    const { uid, resourceVersion } = result.metadata;
    this.#expectations.expectVersion(key, uid, resourceVersion);
    // The informer may have been faster than the answer, or the write may have let the object go.
    const seen = this.#vmis.get(key);
    if (seen === undefined || seen.metadata.uid !== uid) this.#expectations.forget(key);
    else this.#expectations.versionObserved(key, uid, seen.metadata.resourceVersion);
    return true;
  }
}

function newest(launched: readonly Pod[]): Pod | undefined {
  return [...launched].sort((a, b) =>
    a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1,
  )[0];
}
