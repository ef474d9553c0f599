/**
 * After an update, brings guests into launchers of the new version: marks those that are not (`kubevirt.io/outdatedLauncherImage`)
 * and evicts them in batches where the KubeVirt object's `workloadUpdateStrategy` allows it. Those that a migration can
 * update are left to it. The KubeVirt object's status counts them.
 */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirt,
  KubeVirtWorkloadUpdateStrategy,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { parseDurationMs } from '../../openapi/duration.js';
import { configurationFrom } from '../configuration.js';
import { labels, launcherApp } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { kubeVirtFrom } from '../runtime/configuration.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { StatusError, isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import { kubeVirts, pods, virtualMachineInstances } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerOf, patchStatus } from '../runtime/writes.js';
import { isPodFinal } from '../virtual-machine-instance/pod-state.js';
import { isOutdated, mayBeEvicted } from './outdated.js';

const component = 'workload-update-controller';
/** The one key that stands for all evictions; VMIs have a namespace in theirs. */
const evictions = 'evictions';
/** The one key that stands for their number in the KubeVirt object's status. */
const count = 'count';
/** Milliseconds: an update marks thousands, and is counted now and then. */
const countDelay = 1000;
const defaultBatchSize = 10;
/** Milliseconds. */
const defaultBatchInterval = 60_000;
const tooManyRequests = 429;

export function createWorkloadUpdater(deps: ControllerDependencies, launcherImage: string): Runnable {
  return new WorkloadUpdater(deps, launcherImage).controller;
}

class WorkloadUpdater {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #pods: Informer<Pod>;
  readonly #kubeVirts: Informer<KubeVirt>;
  /** Keys of VMIs that carry the mark. */
  readonly #outdated = new Set<string>();
  /** When it was begun, monotonic, and how many were asked to go since. */
  #batch = { begun: Number.NEGATIVE_INFINITY, size: 0 };
  /** When each VMI was asked to go last, monotonic; by UID. */
  readonly #asked = new Map<string, number>();

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly launcherImage: string,
  ) {
    this.#recorder = deps.recorder(component);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#pods = deps.informers.get(pods, { labelSelector: `${labels.app}=${launcherApp}` });
    this.#kubeVirts = deps.informers.get(kubeVirts);
    this.controller = new Controller({
      name: 'workload-updater',
      informers: [this.#vmis, this.#pods, this.#kubeVirts],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const instanceChanged = (vmi: VirtualMachineInstance): void => {
      const key = keyOf(vmi.metadata);
      const marked = isMarkedOutdated(vmi);
      if (marked !== this.#outdated.has(key)) this.controller.enqueueAfter(count, countDelay);
      if (marked) this.#outdated.add(key);
      else this.#outdated.delete(key);
      const outdated = this.#isOutdated(vmi);
      if (outdated !== undefined && outdated !== marked) this.controller.enqueue(key);
      if (marked) this.controller.enqueue(evictions);
    };
    this.#vmis.addHandler({
      add: instanceChanged,
      update: (_, vmi) => instanceChanged(vmi),
      delete: ({ metadata }) => {
        if (this.#outdated.delete(keyOf(metadata))) this.controller.enqueueAfter(count, countDelay);
        this.#asked.delete(metadata.uid);
      },
    });
    const podChanged = (pod: Pod): void => {
      const owner = controllerOf(pod);
      if (owner?.kind !== virtualMachineInstances.kind) return;
      const vmi = this.#vmis.get({ namespace: pod.metadata.namespace, name: owner.name });
      if (vmi !== undefined) instanceChanged(vmi);
    };
    this.#pods.addHandler({ add: podChanged, delete: podChanged });
    const configured = (): void => {
      this.controller.enqueue(evictions);
      this.controller.enqueueAfter(count, countDelay);
    };
    this.#kubeVirts.addHandler({ add: configured, update: configured });
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    switch (key) {
      case evictions:
        return this.#evictBatch(signal);
      case count:
        return this.#count(signal);
      default:
        return this.#mark(key, signal);
    }
  }

  async #count(signal: AbortSignal): Promise<undefined> {
    const kubeVirt = kubeVirtFrom(this.#kubeVirts);
    const { outdatedVirtualMachineInstanceWorkloads: before = 0 } = kubeVirt?.status ?? {};
    const now = this.#outdated.size;
    if (kubeVirt === undefined || now === before) return undefined;
    const status = { ...kubeVirt.status, outdatedVirtualMachineInstanceWorkloads: now };
    await patchStatus(this.deps.client, kubeVirts, kubeVirt, status, signal);
    return undefined;
  }

  #isOutdated({ metadata }: VirtualMachineInstance): boolean | undefined {
    return isOutdated(this.#pods.byIndex(controllerIndex, metadata.uid), this.launcherImage);
  }

  async #mark(key: string, signal: AbortSignal): Promise<undefined> {
    const vmi = this.#vmis.get(key);
    if (vmi === undefined || vmi.metadata.deletionTimestamp !== undefined) return undefined;
    const outdated = this.#isOutdated(vmi);
    if (outdated === undefined || outdated === isMarkedOutdated(vmi)) return undefined;
    const { uid, resourceVersion } = vmi.metadata;
    const mark = { [labels.outdatedLauncherImage]: outdated ? '' : null };
    const body = { metadata: { uid, resourceVersion, labels: mark } };
    const patch = { type: 'merge', body } as const;
    await this.deps.client.patch(virtualMachineInstances, vmi.metadata, patch, undefined, signal);
    return undefined;
  }

  async #evictBatch(signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const strategy = kubeVirtFrom(this.#kubeVirts)?.spec.workloadUpdateStrategy;
    const due = this.#evictable(strategy);
    if (due.length === 0) return undefined;
    const now = this.deps.clock.monotonic();
    const interval = intervalOf(strategy);
    if (now - this.#batch.begun >= interval) this.#batch = { begun: now, size: 0 };
    const free = (strategy?.batchEvictionSize ?? defaultBatchSize) - this.#batch.size;
    const batch = due
      .filter(({ metadata }) => this.#askedAt(metadata.uid) < this.#batch.begun)
      .slice(0, Math.max(0, free));
    this.#batch.size += batch.length;
    for (const { metadata } of batch) this.#asked.set(metadata.uid, now);
    await this.#evictAll(batch, signal);
    return { requeueAfter: this.#batch.begun + interval - now };
  }

  async #evictAll(batch: readonly VirtualMachineInstance[], signal: AbortSignal): Promise<void> {
    const refused: Error[] = [];
    for (const vmi of batch) {
      try {
        await this.#evict(vmi, signal);
      } catch (error) {
        // One that can not be evicted must not keep the others from it.
        if (signal.aborted || !(error instanceof StatusError)) throw error;
        refused.push(error);
      }
    }
    const [first] = refused;
    if (first !== undefined)
      this.deps.logger.warn({ err: first, refused: refused.length }, 'some guests could not be evicted');
  }

  #askedAt(uid: string): number {
    return this.#asked.get(uid) ?? Number.NEGATIVE_INFINITY;
  }

  /** Those that were refused come after all others. */
  #evictable(strategy: KubeVirtWorkloadUpdateStrategy | undefined): VirtualMachineInstance[] {
    const methods = strategy?.workloadUpdateMethods ?? [];
    if (methods.length === 0) return [];
    const configuration = configurationFrom(this.#kubeVirts);
    return [...this.#outdated]
      .flatMap((key) => this.#vmis.get(key) ?? [])
      .filter((vmi) => mayBeEvicted(vmi, methods, configuration))
      .filter((vmi) => this.#isOutdated(vmi) === true)
      .sort(({ metadata: a }, { metadata: b }) => {
        const [first, second] = [this.#askedAt(a.uid), this.#askedAt(b.uid)];
        return first === second ? a.creationTimestamp.localeCompare(b.creationTimestamp) : first - second;
      });
  }

  /** As anybody may ask: budgets and the VMI's strategy are heard. */
  async #evict(vmi: VirtualMachineInstance, signal: AbortSignal): Promise<void> {
    for (const pod of this.#pods.byIndex(controllerIndex, vmi.metadata.uid)) {
      const { namespace, name, uid } = pod.metadata;
      if (isPodFinal(pod) || pod.metadata.deletionTimestamp !== undefined) continue;
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace, name },
        deleteOptions: { preconditions: { uid } },
      };
      try {
        await this.deps.client.post(pods, { namespace, name }, 'POST', 'eviction', body, signal);
      } catch (error) {
        // 429: it is moved instead, or has to wait. Both are seen by the next batch.
        if (error instanceof StatusError && error.code === tooManyRequests) continue;
        if (isNotFound(error) || isConflict(error)) continue;
        throw error;
      }
      const message = 'evicted the launcher pod: the guest starts anew in one of the new version';
      this.#recorder.event(vmi, 'Normal', 'SuccessfulEvict', message);
    }
  }
}

function isMarkedOutdated({ metadata }: VirtualMachineInstance): boolean {
  return metadata.labels?.[labels.outdatedLauncherImage] !== undefined;
}

/** Milliseconds. */
function intervalOf(strategy: KubeVirtWorkloadUpdateStrategy | undefined): number {
  const { batchEvictionInterval } = strategy ?? {};
  return parseDurationMs(batchEvictionInterval ?? '') ?? defaultBatchInterval;
}
