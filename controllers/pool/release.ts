/**
 * Lets VMs of pools go. Each has a finalizer of its pool, so that its disks can be set free before it is gone, whoever deletes it.
 * The finalizer goes then, or when the VM leaves the pool, or when the pool itself is gone.
 */
import type { PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachinePool } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { claimsOf } from '../claims.js';
import { finalizers } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { isNotFound } from '../runtime/errors.js';
import type { Informer } from '../runtime/informer.js';
import {
  dataVolumes,
  persistentVolumeClaims,
  virtualMachinePools,
  virtualMachines,
} from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerOf, patchFinalizers, patchOwnerReferences } from '../runtime/writes.js';

/** For an informer to show a pool that exists. Milliseconds. */
const lagPatience = 1000;

export function createMachineRelease(deps: ControllerDependencies): Runnable {
  return new MachineRelease(deps).controller;
}

class MachineRelease {
  readonly controller: Controller;
  readonly #vms: Informer<VirtualMachine>;
  readonly #pools: Informer<VirtualMachinePool>;
  readonly #claims: Informer<PersistentVolumeClaim>;

  constructor(private readonly deps: ControllerDependencies) {
    this.#vms = deps.informers.get(virtualMachines);
    this.#pools = deps.informers.get(virtualMachinePools);
    this.#claims = deps.informers.get(persistentVolumeClaims);
    this.controller = new Controller({
      name: 'pool-machine-release',
      informers: [this.#vms, this.#pools, this.#claims],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const enqueue = (vm: VirtualMachine): void => {
      if (isHeld(vm)) this.controller.enqueue(keyOf(vm.metadata));
    };
    this.#vms.addHandler({ add: enqueue, update: (_, vm) => enqueue(vm) });
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const vm = this.#vms.get(key);
    if (vm === undefined || !isHeld(vm)) return undefined;
    const pool = await this.#poolOf(vm, signal);
    if (pool === 'unseen') return { requeueAfter: lagPatience };
    if (pool !== undefined) {
      if (vm.metadata.deletionTimestamp === undefined) return undefined;
      if (keepsDisks(pool, vm)) await this.#freeDisks(vm, signal);
    }
    const remove = [finalizers.virtualMachinePool];
    try {
      await patchFinalizers(this.deps.client, virtualMachines, vm, { remove }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return undefined;
  }

  async #poolOf(vm: VirtualMachine, signal: AbortSignal): Promise<VirtualMachinePool | 'unseen' | undefined> {
    const owner = controllerOf(vm);
    if (owner?.kind !== virtualMachinePools.kind) return undefined;
    const key = { namespace: vm.metadata.namespace, name: owner.name };
    const seen = this.#pools.get(key);
    if (seen?.metadata.uid === owner.uid) return seen;
    // Not seeing it proves nothing: only the server's word does.
    try {
      const { metadata } = await this.deps.client.get(virtualMachinePools, key, signal);
      return metadata.uid === owner.uid ? 'unseen' : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Takes the VM from the owners of its disks, so that they stay when it goes. */
  async #freeDisks(vm: VirtualMachine, signal: AbortSignal): Promise<void> {
    const { client } = this.deps;
    const { namespace, uid } = vm.metadata;
    const made = vm.spec.dataVolumeTemplates?.map(({ metadata }) => metadata.name) ?? [];
    const used = claimsOf(vm.spec.template.spec).map(({ claim }) => claim);
    for (const name of new Set([...made, ...used])) {
      const claim = this.#claims.get({ namespace, name });
      if (claim !== undefined)
        await patchOwnerReferences(client, persistentVolumeClaims, claim, { remove: uid }, signal);
    }
    const filled = vm.spec.template.spec?.volumes?.flatMap(({ dataVolume }) => dataVolume?.name ?? []) ?? [];
    for (const name of new Set([...made, ...filled])) {
      try {
        const dataVolume = await client.get(dataVolumes, { namespace, name }, signal);
        await patchOwnerReferences(client, dataVolumes, dataVolume, { remove: uid }, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }
}

const isHeld = ({ metadata }: VirtualMachine): boolean =>
  metadata.finalizers?.includes(finalizers.virtualMachinePool) === true;

/** Not those of a VM that goes with its whole pool, or is deleted in the foreground: so that what it made goes with it. */
function keepsDisks({ metadata, spec }: VirtualMachinePool, vm: VirtualMachine): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (vm.metadata.finalizers?.includes(finalizers.foreground) === true) return false;
  const { opportunistic, proactive } = spec.scaleInStrategy ?? {};
  const { statePreservation = 'Disabled' } = opportunistic ?? proactive ?? {};
  return statePreservation !== 'Disabled';
}
