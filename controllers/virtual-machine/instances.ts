/** What the VM controller does to instances, with the events that tell of it. */
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { reasons } from '../constants.js';
import type { Client } from '../runtime/client.js';
import { StatusError, isAlreadyExists, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Expectations } from '../runtime/expectations.js';
import { virtualMachineInstances } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerReference } from '../runtime/writes.js';
import { isFinal } from './start-failure.js';
import type { StartRevisions } from './start-revisions.js';
import type { Failure } from './status.js';
import { instanceOf } from './template.js';

/** What an action has made of the world. */
export interface Outcome {
  readonly vmi: VirtualMachineInstance | undefined;
  readonly failure?: Failure;
  /** To be thrown once the status tells of the failure. */
  readonly error?: Error;
  /** Milliseconds. */
  readonly requeueAfter?: number;
}

export class Instances {
  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly expectations: Expectations,
    private readonly revisions: StartRevisions,
  ) {}

  /**
   * @param stored as its user has written it
   * @param vm with its instancetype and preference applied
   */
  async create(
    stored: VirtualMachine,
    vm: VirtualMachine,
    paused: boolean,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const key = keyOf(vm.metadata);
    this.expectations.expectCreation(key, vm.metadata.name);
    try {
      await this.revisions.keep(stored, signal);
      const vmi = await this.client.create(virtualMachineInstances, instanceOf(vm, paused), signal);
      const message = `created virtual machine instance ${vmi.metadata.name} to start the VM`;
      this.recorder.event(vm, 'Normal', reasons.successfulCreate, message);
      return { vmi };
    } catch (error) {
      this.expectations.creationObserved(key, vm.metadata.name);
      // The informer lags behind, or somebody else took the name: the next look tells which.
      if (isAlreadyExists(error) || !(error instanceof StatusError)) throw error;
      const message = `could not create the virtual machine instance: ${error.message}`;
      this.recorder.event(vm, 'Warning', reasons.failedCreate, message);
      return { vmi: undefined, failure: { reason: reasons.failedCreate, message }, error };
    }
  }

  async delete(vm: VirtualMachine, vmi: VirtualMachineInstance, signal: AbortSignal): Promise<void> {
    const key = keyOf(vm.metadata);
    const { uid, name } = vmi.metadata;
    this.expectations.expectDeletion(key, uid);
    try {
      await this.client.delete(virtualMachineInstances, vmi.metadata, { preconditions: { uid } }, signal);
      const message = isFinal(vmi)
        ? `deleted virtual machine instance ${name}, which has ended`
        : `deleted virtual machine instance ${name} to stop the VM`;
      this.recorder.event(vm, 'Normal', reasons.successfulDelete, message);
    } catch (error) {
      this.expectations.deletionObserved(key, uid);
      if (isNotFound(error)) return;
      if (error instanceof StatusError) {
        const message = `could not delete virtual machine instance ${name}: ${error.message}`;
        this.recorder.event(vm, 'Warning', reasons.failedDelete, message);
      }
      throw error;
    }
  }

  /** The instance outlived a VM of the same name that was deleted without its dependents. */
  async adopt(vm: VirtualMachine, vmi: VirtualMachineInstance, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, ownerReferences = [] } = vmi.metadata;
    const references = [...ownerReferences, controllerReference(vm)];
    const body = { metadata: { uid, resourceVersion, ownerReferences: references } };
    const patch = { type: 'merge', body } as const;
    await this.client.patch(virtualMachineInstances, vmi.metadata, patch, undefined, signal);
  }
}
