/** What the replica set controller does to instances, with the events that tell of it. */
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { reasons } from '../constants.js';
import type { Client } from '../runtime/client.js';
import { StatusError, isAlreadyExists, isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Expectations } from '../runtime/expectations.js';
import type { Informer } from '../runtime/informer.js';
import { virtualMachineInstances } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { createOwned } from '../runtime/writes.js';
import { instanceOf } from './template.js';

export class Replicas {
  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly expectations: Expectations,
    private readonly vmis: Informer<VirtualMachineInstance>,
  ) {}

  async create(
    replicaSet: VirtualMachineInstanceReplicaSet,
    name: string,
    signal: AbortSignal,
  ): Promise<VirtualMachineInstance> {
    const key = keyOf(replicaSet.metadata);
    this.expectations.expectCreation(key, name);
    try {
      const wanted = instanceOf(replicaSet, name);
      const vmi = await createOwned(this.client, virtualMachineInstances, wanted, replicaSet, signal);
      // The informer may have been faster than the answer.
      if (this.vmis.get(keyOf(vmi.metadata)) !== undefined) this.expectations.creationObserved(key, name);
      const message = `created virtual machine instance ${name}`;
      this.recorder.event(replicaSet, 'Normal', reasons.successfulCreate, message);
      return vmi;
    } catch (error) {
      this.expectations.creationObserved(key, name);
      // It was made before, and the informer lags behind: no failure.
      if (isAlreadyExists(error) || !(error instanceof StatusError)) throw error;
      const message = `could not create virtual machine instance ${name}: ${error.message}`;
      this.recorder.event(replicaSet, 'Warning', reasons.failedCreate, message);
      throw error;
    }
  }

  async delete(
    replicaSet: VirtualMachineInstanceReplicaSet,
    vmi: VirtualMachineInstance,
    why: 'ended' | 'excess',
    signal: AbortSignal,
  ): Promise<void> {
    const key = keyOf(replicaSet.metadata);
    const { uid, name } = vmi.metadata;
    this.expectations.expectDeletion(key, uid);
    try {
      await this.client.delete(virtualMachineInstances, vmi.metadata, { preconditions: { uid } }, signal);
      const message = `deleted virtual machine instance ${name}${why === 'ended' ? ', which has ended' : ''}`;
      this.recorder.event(replicaSet, 'Normal', reasons.successfulDelete, message);
    } catch (error) {
      this.expectations.deletionObserved(key, uid);
      if (isNotFound(error) || isConflict(error)) return;
      if (error instanceof StatusError) {
        const message = `could not delete virtual machine instance ${name}: ${error.message}`;
        this.recorder.event(replicaSet, 'Warning', reasons.failedDelete, message);
      }
      throw error;
    }
  }
}
