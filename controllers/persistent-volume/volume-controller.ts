/** Looks after volumes whose claim is gone, as their reclaim policy says. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller } from '../runtime/controller.js';
import { isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import { persistentVolumeClaims, persistentVolumes } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';
import type { LocalDirectories } from './local-directories.js';
import { provisioner } from './storage-class.js';

export class VolumeController {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly directories: LocalDirectories,
  ) {
    this.#recorder = deps.recorder('persistentvolume-controller');
    this.#claims = deps.informers.get(persistentVolumeClaims);
    this.#volumes = deps.informers.get(persistentVolumes);
    this.controller = new Controller({
      name: 'persistent-volume',
      informers: [this.#claims, this.#volumes],
      reconcile: async (name, signal) => {
        await this.#reconcile(name, signal);
        return undefined;
      },
      logger: deps.logger,
      clock: deps.clock,
      workers: 2,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const enqueue = ({ metadata }: PersistentVolume): void => {
      this.controller.enqueue(metadata.name);
    };
    this.#volumes.addHandler({ add: enqueue, update: (_, volume) => enqueue(volume) });
    this.#claims.addHandler({
      delete: ({ spec }) => {
        if (spec?.volumeName !== undefined) this.controller.enqueue(spec.volumeName);
      },
    });
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const volume = this.#volumes.get({ name });
    if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return;
    const reference = volume.spec?.claimRef;
    if (reference?.uid === undefined) {
      if (volume.status?.phase !== 'Available') await this.#setPhase(volume, 'Available', signal);
      return;
    }
    if (await this.#claimExists(volume, signal)) return;
    const ours = volume.metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === provisioner;
    if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete' && ours) await this.#remove(volume, signal);
    else if (volume.status?.phase !== 'Released') await this.#setPhase(volume, 'Released', signal);
  }

  /** Data is at stake, so the server has the last word and not the informer. */
  async #claimExists({ spec }: PersistentVolume, signal: AbortSignal): Promise<boolean> {
    const { namespace, name = '', uid } = spec?.claimRef ?? {};
    if (this.#claims.get({ namespace, name })?.metadata.uid === uid) return true;
    try {
      const claim = await this.deps.client.get(persistentVolumeClaims, { namespace, name }, signal);
      return claim.metadata.uid === uid;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async #remove(volume: PersistentVolume, signal: AbortSignal): Promise<void> {
    const { name, uid } = volume.metadata;
    try {
      await this.directories.remove(name);
    } catch (error) {
      const message = `could not remove the directory of the volume: ${String(error)}`;
      this.#recorder.event(volume, 'Warning', 'VolumeFailedDelete', message);
      throw error;
    }
    try {
      await this.deps.client.delete(persistentVolumes, { name }, { preconditions: { uid } }, signal);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #setPhase(volume: PersistentVolume, phase: string, signal: AbortSignal): Promise<void> {
    await patchStatus(this.deps.client, persistentVolumes, volume, { ...volume.status, phase }, signal);
  }
}
