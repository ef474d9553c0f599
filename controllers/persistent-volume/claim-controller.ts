/** Gives each claim its volume, and keeps a claim that is in use. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../openapi/generated/types/core_v1.js';
import type { StorageClass } from '../../openapi/generated/types/storage_v1.js';
import { finalizers } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller } from '../runtime/controller.js';
import { isAlreadyExists } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import { persistentVolumeClaims, persistentVolumes, pods, storageClasses } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { patchFinalizers, patchStatus } from '../runtime/writes.js';
import type { LocalDirectories } from './local-directories.js';
import { classOf, provisioner } from './storage-class.js';
import { claimReference, findVolume, isReservedFor, volumeFor, volumeNameFor } from './volume.js';

const podIndex = 'pod-claim';

export class ClaimController {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #classes: Informer<StorageClass>;
  readonly #pods: Informer<Pod>;
  /** UIDs of claims that have been told that nothing fits them. */
  readonly #told = new Set<string>();

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly directories: LocalDirectories,
  ) {
    this.#recorder = deps.recorder('persistentvolume-controller');
    this.#claims = deps.informers.get(persistentVolumeClaims);
    this.#volumes = deps.informers.get(persistentVolumes);
    this.#classes = deps.informers.get(storageClasses);
    this.#pods = deps.informers.get(pods);
    this.#pods.addIndex(podIndex, usedClaims);
    this.controller = new Controller({
      name: 'persistent-volume-claim',
      informers: [this.#claims, this.#volumes, this.#classes, this.#pods],
      reconcile: async (key, signal) => {
        await this.#reconcile(key, signal);
        return undefined;
      },
      logger: deps.logger,
      clock: deps.clock,
      // Two claims must not find the same volume.
      workers: 1,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const enqueue = (claim: PersistentVolumeClaim): void => {
      this.controller.enqueue(keyOf(claim.metadata));
    };
    this.#claims.addHandler({
      add: enqueue,
      update: (_, claim) => enqueue(claim),
      delete: ({ metadata }) => {
        this.#told.delete(metadata.uid);
      },
    });
    const retryUnbound = (): void => {
      for (const claim of this.#claims.list()) if (claim.status?.phase !== 'Bound') enqueue(claim);
    };
    this.#classes.addHandler({ add: retryUnbound, update: retryUnbound });
    const volumeChanged = ({ spec }: PersistentVolume): void => {
      const { namespace, name } = spec?.claimRef ?? {};
      if (name === undefined) retryUnbound();
      else this.controller.enqueue(keyOf({ namespace, name }));
    };
    this.#volumes.addHandler({
      add: volumeChanged,
      update: (_, volume) => volumeChanged(volume),
      delete: volumeChanged,
    });
    const podChanged = (pod: Pod): void => {
      for (const claim of claimsOfPod(pod)) this.controller.enqueue(claim);
    };
    this.#pods.addHandler({ update: (_, pod) => podChanged(pod), delete: podChanged });
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const claim = this.#claims.get(key);
    if (claim === undefined) return;
    if (claim.metadata.deletionTimestamp !== undefined) {
      if (this.#pods.byIndex(podIndex, key).length > 0) return;
      const remove = [finalizers.claimProtection];
      await patchFinalizers(this.deps.client, persistentVolumeClaims, claim, { remove }, signal);
      return;
    }
    const volumeName = claim.spec?.volumeName;
    const named =
      volumeName === undefined || volumeName === '' ? undefined : this.#volumes.get({ name: volumeName });
    if (named !== undefined && isReservedFor(named, claim)) await this.#finish(claim, named, signal);
    else if (claim.status?.phase === 'Bound') await this.#lose(claim, signal);
    // A lost claim is never given an empty volume in place of its data.
    else if (claim.status?.phase !== 'Lost') await this.#find(claim, signal);
  }

  async #find(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const wantsAnyVolume = (claim.spec?.volumeName ?? '') === '';
    const volume =
      findVolume(claim, this.#volumes.list()) ??
      (wantsAnyVolume ? await this.#provision(claim, signal) : undefined);
    if (volume === undefined) return this.#wait(claim, signal);
    await this.#bind(claim, volume, signal);
  }

  /** Undefined if its class is not ours to provision. */
  async #provision(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<PersistentVolume | undefined> {
    const storageClass = classOf(claim, this.#classes.list());
    if (storageClass?.provisioner !== provisioner) return undefined;
    if (claim.spec?.volumeMode === 'Block') {
      const message = `storage class ${storageClass.metadata.name} makes directories: volumeMode Block is not possible`;
      this.#recorder.event(claim, 'Warning', 'ProvisioningFailed', message);
      return undefined;
    }
    const name = volumeNameFor(claim);
    try {
      await this.directories.create(name);
    } catch (error) {
      const message = `could not make the directory of the volume: ${String(error)}`;
      this.#recorder.event(claim, 'Warning', 'ProvisioningFailed', message);
      throw error;
    }
    const wanted = volumeFor(claim, storageClass, this.directories.pathOf(name));
    try {
      const volume = await this.deps.client.create(persistentVolumes, wanted, signal);
      const message = `made volume ${name}`;
      this.#recorder.event(claim, 'Normal', 'ProvisioningSucceeded', message);
      return volume;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.deps.client.get(persistentVolumes, { name }, signal);
    }
  }

  /** First the volume's side, so that no two claims can have it. */
  async #bind(claim: PersistentVolumeClaim, volume: PersistentVolume, signal: AbortSignal): Promise<void> {
    const { client } = this.deps;
    let bound = volume;
    if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
      const { uid, resourceVersion } = volume.metadata;
      const body = { metadata: { uid, resourceVersion }, spec: { claimRef: claimReference(claim) } };
      bound = await client.patch(
        persistentVolumes,
        volume.metadata,
        { type: 'merge', body },
        undefined,
        signal,
      );
    }
    const { uid, resourceVersion, annotations, finalizers: before = [] } = claim.metadata;
    const protection = finalizers.claimProtection;
    const body = {
      metadata: {
        uid,
        resourceVersion,
        annotations: { ...annotations, 'pv.kubernetes.io/bind-completed': 'yes' },
        finalizers: before.includes(protection) ? before : [...before, protection],
      },
      spec: { volumeName: bound.metadata.name },
    };
    const patch = { type: 'merge', body } as const;
    const named = await client.patch(persistentVolumeClaims, claim.metadata, patch, undefined, signal);
    await this.#finish(named, bound, signal);
  }

  /** Both sides name each other: say so. */
  async #finish(claim: PersistentVolumeClaim, volume: PersistentVolume, signal: AbortSignal): Promise<void> {
    const { client } = this.deps;
    const { accessModes, capacity } = volume.spec ?? {};
    if (volume.status?.phase !== 'Bound')
      await patchStatus(client, persistentVolumes, volume, { ...volume.status, phase: 'Bound' }, signal);
    const status = { ...claim.status, phase: 'Bound', accessModes, capacity };
    await patchStatus(client, persistentVolumeClaims, claim, status, signal);
  }

  async #lose(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const message = `volume ${claim.spec?.volumeName ?? ''} no longer exists or belongs to another claim; its data is lost to this claim`;
    this.#recorder.event(claim, 'Warning', 'ClaimLost', message);
    const status = { ...claim.status, phase: 'Lost' };
    await patchStatus(this.deps.client, persistentVolumeClaims, claim, status, signal);
  }

  async #wait(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    if (!this.#told.has(claim.metadata.uid)) {
      this.#told.add(claim.metadata.uid);
      const message = 'no volume fits this claim, and no storage class that it names provisions one here';
      this.#recorder.event(claim, 'Normal', 'FailedBinding', message);
    }
    const status = { ...claim.status, phase: 'Pending' };
    await patchStatus(this.deps.client, persistentVolumeClaims, claim, status, signal);
  }
}

/** Claims of pods that have not ended. */
function usedClaims(pod: Pod): string[] {
  const ended = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
  return ended ? [] : claimsOfPod(pod);
}

function claimsOfPod({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined
      ? []
      : [`${metadata.namespace ?? ''}/${persistentVolumeClaim.claimName}`],
  );
}
