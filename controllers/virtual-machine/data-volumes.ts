/**
 * The data volumes of a VM's `dataVolumeTemplates`: made once, and waited for before an instance is. Whether a cluster serves data volumes
 * at all is not known before it is asked, so they are read one by one; their claims, which are watched, tell when it is time.
 */
import type { PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import { reasons } from '../constants.js';
import type { Client, Kind } from '../runtime/client.js';
import { StatusError, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import { dataVolumes } from '../runtime/kinds.js';
import { controllerReference, createOwned } from '../runtime/writes.js';
import type { Failure } from './status.js';

export type DataVolumesState =
  | { readonly kind: 'ready' }
  /** Their contents are being imported. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'failed'; readonly failure: Failure };

export const dataVolumesReady: DataVolumesState = { kind: 'ready' };

type DataVolume = KubernetesObject & {
  readonly spec?: object;
  readonly status?: { readonly phase?: string };
};
const kind: Kind<DataVolume> = dataVolumes;

type Template = NonNullable<VirtualMachine['spec']['dataVolumeTemplates']>[number];

/** The claim can be used; with the last two it waits for the pod that does. */
const usable = new Set(['Succeeded', 'WaitForFirstConsumer', 'PendingPopulation']);

export class DataVolumes {
  /** UIDs of claims whose contents were found complete: they stay so. */
  readonly #complete = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly claims: Informer<PersistentVolumeClaim>,
  ) {
    claims.addHandler({ delete: ({ metadata }) => void this.#complete.delete(metadata.uid) });
  }

  async ensure(vm: VirtualMachine, signal: AbortSignal): Promise<DataVolumesState> {
    let state = dataVolumesReady;
    for (const template of vm.spec.dataVolumeTemplates ?? []) {
      const next = await this.#ensureOne(vm, template, signal);
      if (next.kind === 'failed') return next;
      if (next.kind === 'waiting') state = next;
    }
    return state;
  }

  async #ensureOne(vm: VirtualMachine, template: Template, signal: AbortSignal): Promise<DataVolumesState> {
    const name = template.metadata.name;
    const key = { namespace: vm.metadata.namespace, name };
    const claim = this.claims.get(key);
    if (claim !== undefined && this.#complete.has(claim.metadata.uid)) return dataVolumesReady;
    try {
      const found = await this.client.get(kind, key, signal).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      // A claim without a data volume is somebody's own, or the data volume has done its work and was cleared away.
      if (found === undefined && claim === undefined) return await this.#create(vm, template, signal);
      const phase = found === undefined ? 'Succeeded' : found.status?.phase;
      if (phase === 'Failed') return failed(`data volume ${name} has failed: see its events`);
      if (phase === 'Succeeded' && claim !== undefined) this.#complete.add(claim.metadata.uid);
      return usable.has(phase ?? '') ? dataVolumesReady : { kind: 'waiting' };
    } catch (error) {
      if (!(error instanceof StatusError) || error.code >= 500) throw error;
      return failed(`could not create data volume ${name}: ${error.message}`);
    }
  }

  async #create(vm: VirtualMachine, template: Template, signal: AbortSignal): Promise<DataVolumesState> {
    const { name, labels, annotations } = template.metadata;
    const wanted: New<DataVolume> & { metadata: { name: string } } = {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: kind.kind,
      metadata: {
        name,
        ...(vm.metadata.namespace === undefined ? {} : { namespace: vm.metadata.namespace }),
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [controllerReference(vm)],
      },
      spec: template.spec,
    };
    await createOwned(this.client, kind, wanted, vm, signal);
    this.recorder.event(vm, 'Normal', reasons.successfulCreate, `created data volume ${name}`);
    return { kind: 'waiting' };
  }
}

const failed = (message: string): DataVolumesState => ({
  kind: 'failed',
  failure: { reason: reasons.failedCreate, message },
});

export const failureOf = (state: DataVolumesState): Failure | undefined =>
  state.kind === 'failed' ? state.failure : undefined;
