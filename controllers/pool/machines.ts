/** What the pool controller does to VMs and their instances, with the events that tell of it. */
import type { VirtualMachinePool } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { reasons } from '../constants.js';
import type { Client, DeleteParams } from '../runtime/client.js';
import { StatusError, isAlreadyExists, isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Expectations } from '../runtime/expectations.js';
import type { Informer } from '../runtime/informer.js';
import { virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { createOwned } from '../runtime/writes.js';
import { runStrategyOf } from '../virtual-machine/run-strategy.js';
import { changeBetween, machineOf, nameOf, ordinalOf, type NamedDesign } from './machine.js';
import { isAvailable } from './rollout.js';

/** A VM of a pool and the instance that it has. */
export interface Machine {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
}

/** `excess`: its disks may be kept. `remade`: one with new disks is to take its place. */
export type Removal = 'excess' | 'remade';

export class Machines {
  /** UID of an instance that was told to end → the key of its pool. */
  readonly #restarting = new Map<string, string>();

  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly expectations: Expectations,
    private readonly vms: Informer<VirtualMachine>,
  ) {}

  async create(
    pool: VirtualMachinePool,
    revision: NamedDesign,
    ordinal: number,
    signal: AbortSignal,
  ): Promise<Machine> {
    const key = keyOf(pool.metadata);
    const name = nameOf(pool, ordinal);
    this.expectations.expectCreation(key, name);
    try {
      const wanted = machineOf(pool, revision, ordinal);
      const vm = await createOwned(this.client, virtualMachines, wanted, pool, signal);
      // The informer may have been faster than the answer.
      if (this.vms.get(keyOf(vm.metadata)) !== undefined) this.expectations.creationObserved(key, name);
      this.recorder.event(pool, 'Normal', reasons.successfulCreate, `created virtual machine ${name}`);
      return { vm, vmi: undefined };
    } catch (error) {
      this.expectations.creationObserved(key, name);
      // The informer lags behind: the next look tells whose it is.
      if (isAlreadyExists(error)) throw error;
      this.#tell(pool, reasons.failedCreate, `could not create virtual machine ${name}`, error);
      throw error;
    }
  }

  async delete(
    pool: VirtualMachinePool,
    vm: VirtualMachine,
    why: Removal,
    signal: AbortSignal,
  ): Promise<void> {
    const key = keyOf(pool.metadata);
    const { uid, name } = vm.metadata;
    const params: DeleteParams = {
      preconditions: { uid },
      ...(why === 'remade' ? { propagationPolicy: 'Foreground' } : {}),
    };
    this.expectations.expectDeletion(key, uid);
    try {
      await this.client.delete(virtualMachines, vm.metadata, params, signal);
      const message = `deleted virtual machine ${name}${why === 'remade' ? ', to be made anew' : ''}`;
      this.recorder.event(pool, 'Normal', reasons.successfulDelete, message);
    } catch (error) {
      this.expectations.deletionObserved(key, uid);
      if (isNotFound(error) || isConflict(error)) return;
      this.#tell(pool, reasons.failedDelete, `could not delete virtual machine ${name}`, error);
      throw error;
    }
  }

  /** Brings the VM from the design that it shows to another. */
  async update(
    pool: VirtualMachinePool,
    vm: VirtualMachine,
    before: NamedDesign | undefined,
    after: NamedDesign,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion, name } = vm.metadata;
    const change = changeBetween(before, after, ordinalOf(vm)) as { metadata?: object; spec?: object };
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    try {
      const written = await this.client.patch(
        virtualMachines,
        vm.metadata,
        { type: 'merge', body },
        undefined,
        signal,
      );
      this.expectations.expectWritten(keyOf(pool.metadata), written, this.vms.get(keyOf(vm.metadata)));
      this.recorder.event(pool, 'Normal', reasons.successfulUpdate, `updated virtual machine ${name}`);
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error))
        this.#tell(pool, reasons.failedUpdate, `could not update virtual machine ${name}`, error);
      throw error;
    }
  }

  /** Ends the instance so that one as the VM is now takes its place. */
  async restart(
    pool: VirtualMachinePool,
    vm: VirtualMachine,
    vmi: VirtualMachineInstance,
    signal: AbortSignal,
  ): Promise<void> {
    const key = keyOf(pool.metadata);
    const { uid, name, resourceVersion } = vmi.metadata;
    // One that does not serve costs nothing, if that is still so: it may have got ready meanwhile.
    const preconditions = isAvailable(vmi) ? { uid } : { uid, resourceVersion };
    this.#restarting.set(uid, key);
    this.expectations.expectDeletion(key, uid);
    try {
      // Only then does the VM make another by itself.
      if (runStrategyOf(vm) === 'Always')
        await this.client.delete(virtualMachineInstances, vmi.metadata, { preconditions }, signal);
      else await this.client.post(virtualMachines, vm.metadata, 'PUT', 'restart', {}, signal);
      const message = `restarts virtual machine ${name} to bring it up to date`;
      this.recorder.event(pool, 'Normal', reasons.successfulUpdate, message);
    } catch (error) {
      this.instanceEnds(uid);
      // It has gone already, or is stopped or restarted by somebody else.
      if (isNotFound(error) || isConflict(error)) return;
      this.#tell(pool, reasons.failedUpdate, `could not restart virtual machine ${name}`, error);
      throw error;
    }
  }

  /** The instance was seen to be deleted, or gone. */
  instanceEnds(uid: string): void {
    const key = this.#restarting.get(uid);
    if (key === undefined) return;
    this.#restarting.delete(uid);
    this.expectations.deletionObserved(key, uid);
  }

  #tell(pool: VirtualMachinePool, reason: string, what: string, error: unknown): void {
    if (error instanceof StatusError)
      this.recorder.event(pool, 'Warning', reason, `${what}: ${error.message}`);
  }
}
