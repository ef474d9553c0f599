/**
 * The specs that instances were started from, kept as ControllerRevisions: what has changed since is seen by them. A start leaves the VM
 * with one, its own; they are the VM's and go with it.
 */
import type { ControllerRevision } from '../../openapi/generated/types/apps_v1.js';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { New } from '../../openapi/meta.js';
import { annotations, labels } from '../constants.js';
import type { Client } from '../runtime/client.js';
import { isNotFound } from '../runtime/errors.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import type { Informers } from '../runtime/informers.js';
import { controllerRevisions, virtualMachines } from '../runtime/kinds.js';
import { controllerOf, controllerReference, createOwned } from '../runtime/writes.js';

/** Other controllers keep revisions too, of which there may be many. */
const selector = labels.createdBy;

const nameOf = (uid: string, generation: number): string => `revision-start-vm-${uid}-${generation}`;

/** The revision that a VM's instance was started from; undefined for an instance of its own. */
export function startRevisionOf(vmi: VirtualMachineInstance): string | undefined {
  const owner = controllerOf(vmi);
  const generation = Number(vmi.metadata.annotations?.[annotations.virtualMachineGeneration]);
  return owner?.kind === virtualMachines.kind && Number.isInteger(generation)
    ? nameOf(owner.uid, generation)
    : undefined;
}

export class StartRevisions {
  readonly informer: Informer<ControllerRevision>;
  readonly #client: Client;

  constructor({ client, informers }: { readonly client: Client; readonly informers: Informers }) {
    this.#client = client;
    this.informer = informers.get(controllerRevisions, { labelSelector: selector });
  }

  /** Before an instance is made: keeps the spec that it will be made from, and lets go of those of earlier ones. */
  async keep(vm: VirtualMachine, signal: AbortSignal): Promise<void> {
    const wanted = revisionOf(vm);
    const { namespace, uid } = vm.metadata;
    const { name } = wanted.metadata;
    if (this.informer.get({ namespace, name }) === undefined)
      await createOwned(this.#client, controllerRevisions, wanted, vm, signal);
    for (const { metadata } of this.informer.byIndex(controllerIndex, uid))
      if (metadata.name !== name) await this.#remove({ namespace, name: metadata.name }, signal);
  }

  /** The spec that an instance was started from; undefined if nobody knows it any more. */
  async specOf(vmi: VirtualMachineInstance, signal: AbortSignal): Promise<VirtualMachineSpec | undefined> {
    const name = vmi.status?.virtualMachineRevisionName ?? startRevisionOf(vmi);
    if (name === undefined) return undefined;
    const { namespace } = vmi.metadata;
    try {
      // The informer keeps only that it is there.
      const { data } = await this.#client.get(controllerRevisions, { namespace, name }, signal);
      // Made by `revisionOf`.
      return data?.['spec'] as VirtualMachineSpec | undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #remove(key: { namespace: string | undefined; name: string }, signal: AbortSignal): Promise<void> {
    try {
      await this.#client.delete(controllerRevisions, key, {}, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

function revisionOf(vm: VirtualMachine): New<ControllerRevision> & { metadata: { name: string } } {
  const { namespace, uid, generation = 0 } = vm.metadata;
  return {
    apiVersion: 'apps/v1',
    kind: controllerRevisions.kind,
    metadata: {
      name: nameOf(uid, generation),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [labels.createdBy]: uid },
      ownerReferences: [controllerReference(vm)],
    },
    data: { spec: vm.spec },
    revision: generation,
  };
}
