/** What the VMI controller does to launcher pods, with the events that tell of it. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { reasons } from '../constants.js';
import { launcherGracePeriod, launcherPod } from '../launcher-pod/launcher-pod.js';
import type { LauncherPodSettings } from '../launcher-pod/settings.js';
import type { Client } from '../runtime/client.js';
import { StatusError, isAlreadyExists, isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Expectations } from '../runtime/expectations.js';
import { pods } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { isControlledBy } from '../runtime/writes.js';
import type { Problem } from './pod-state.js';

export type Created =
  | { readonly kind: 'created'; readonly pod: Pod }
  /** `error` is to be thrown once the status tells of it. */
  | { readonly kind: 'refused'; readonly problem: Problem; readonly error: Error };

export class LauncherPods {
  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly expectations: Expectations,
  ) {}

  async create(
    vmi: VirtualMachineInstance,
    settings: LauncherPodSettings,
    blockVolumes: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Created> {
    const key = keyOf(vmi.metadata);
    const wanted = launcherPod(vmi, settings, blockVolumes);
    const name = wanted.metadata.name ?? '';
    this.expectations.expectCreation(key, name);
    try {
      // No event: the pod has its own from the scheduler.
      return { kind: 'created', pod: await this.client.create(pods, wanted, signal) };
    } catch (error) {
      this.expectations.creationObserved(key, name);
      if (isAlreadyExists(error)) return this.#existing(vmi, name, error, signal);
      if (!(error instanceof StatusError)) throw error;
      return this.#refused(vmi, error);
    }
  }

  /** Created before this controller was restarted, and not seen by its informer yet; or a stranger. */
  async #existing(
    vmi: VirtualMachineInstance,
    name: string,
    error: StatusError,
    signal: AbortSignal,
  ): Promise<Created> {
    const pod = await this.client.get(pods, { namespace: vmi.metadata.namespace, name }, signal);
    return isControlledBy(pod, vmi) ? { kind: 'created', pod } : this.#refused(vmi, error);
  }

  #refused(vmi: VirtualMachineInstance, error: StatusError): Created {
    const message = `could not create the launcher pod: ${error.message}`;
    this.recorder.event(vmi, 'Warning', reasons.failedCreate, message);
    return { kind: 'refused', problem: { reason: reasons.failedCreate, message }, error };
  }

  /** Asks the pod to end in the VMI's grace period; again if that has become shorter. */
  async delete(vmi: VirtualMachineInstance, pod: Pod, signal: AbortSignal): Promise<void> {
    const gracePeriodSeconds = launcherGracePeriod(vmi);
    const { uid, name, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    const asked = deletionTimestamp === undefined ? undefined : (deletionGracePeriodSeconds ?? 0);
    if (asked !== undefined && asked <= gracePeriodSeconds) return;
    const key = keyOf(vmi.metadata);
    this.expectations.expectDeletion(key, uid);
    try {
      await this.client.delete(pods, pod.metadata, { gracePeriodSeconds, preconditions: { uid } }, signal);
      this.recorder.event(vmi, 'Normal', reasons.successfulDelete, `deleted launcher pod ${name}`);
    } catch (error) {
      this.expectations.deletionObserved(key, uid);
      if (isNotFound(error) || isConflict(error)) return;
      if (error instanceof StatusError) {
        const message = `could not delete launcher pod ${name}: ${error.message}`;
        this.recorder.event(vmi, 'Warning', reasons.failedDelete, message);
      }
      throw error;
    }
  }
}
