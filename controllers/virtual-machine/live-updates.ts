/** Brings to running instances what has changed in their VMs, as far as it can be had without a restart. */
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { annotations, reasons } from '../constants.js';
import { isMigrating } from '../migrations.js';
import type { Client } from '../runtime/client.js';
import { StatusError, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { virtualMachineInstances } from '../runtime/kinds.js';
import type { StartRevisions } from './start-revisions.js';
import { isFinal } from './start-failure.js';
import type { Drift } from './status.js';
import { differsFromTemplate, templateDigest } from './template.js';
import { changesForRestart, livePatch, type RolloutStrategy } from './template-changes.js';

export class LiveUpdates {
  /** What was found out, by the instance's UID: its VM may be looked at often before it is restarted. */
  readonly #known = new Map<string, { readonly of: string; readonly drift: Drift }>();

  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly revisions: StartRevisions,
    private readonly strategy: () => RolloutStrategy,
  ) {}

  /**
   * What is left waits for a restart.
   *
   * @param stored as its user has written it
   * @param vm with its instancetype and preference applied
   */
  async follow(
    stored: VirtualMachine,
    vm: VirtualMachine,
    vmi: VirtualMachineInstance,
    signal: AbortSignal,
  ): Promise<Drift> {
    const { uid } = vmi.metadata;
    if (!differsFromTemplate(vm, vmi)) {
      this.#known.delete(uid);
      return { kind: 'none' };
    }
    const strategy = this.strategy();
    const of = `${templateDigest(vm)}/${strategy}`;
    const known = this.#known.get(uid);
    if (known?.of === of) return known.drift;
    const started = await this.revisions.specOf(vmi, signal);
    const forRestart =
      started === undefined ? ['spec.template'] : changesForRestart(started, stored.spec, strategy);
    const drift: Drift = forRestart.length === 0 ? { kind: 'none' } : { kind: 'restart', fields: forRestart };
    const leaving = vmi.metadata.deletionTimestamp !== undefined || isFinal(vmi);
    // Where a guest on its way may go is settled: its end brings us back here.
    if (isMigrating(vmi)) return drift;
    if (!leaving) await this.#apply(vm, vmi, strategy, forRestart.length === 0, signal);
    this.#known.set(uid, { of, drift });
    return drift;
  }

  /** The instance is gone. */
  forget(uid: string): void {
    this.#known.delete(uid);
  }

  async #apply(
    vm: VirtualMachine,
    { metadata }: VirtualMachineInstance,
    strategy: RolloutStrategy,
    complete: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { spec } = vm.spec.template;
    if (spec === undefined) return;
    try {
      // The informer does not keep the spec of those that run.
      const whole = await this.client.get(virtualMachineInstances, metadata, signal);
      if (whole.metadata.uid !== metadata.uid) return;
      const changes = livePatch(whole, spec, strategy);
      if (changes.length === 0 && !complete) return;
      const body = [
        { op: 'test', path: '/metadata/uid', value: metadata.uid },
        ...changes,
        // Once it is as the VM is now, nobody needs to look again.
        ...(complete ? [{ op: 'add', path: digestPath, value: templateDigest(vm) }] : []),
      ];
      await this.client.patch(virtualMachineInstances, metadata, { type: 'json', body }, undefined, signal);
      if (changes.length > 0)
        this.recorder.event(
          vm,
          'Normal',
          reasons.successfulUpdate,
          `updated virtual machine instance ${metadata.name}`,
        );
    } catch (error) {
      if (isNotFound(error)) return;
      if (error instanceof StatusError)
        this.recorder.event(
          vm,
          'Warning',
          reasons.failedUpdate,
          `could not update virtual machine instance ${metadata.name}: ${error.message}`,
        );
      throw error;
    }
  }
}

/** Instances that a VM has made have annotations. */
const digestPath = `/metadata/annotations/${annotations.templateDigest.replace('/', '~1')}`;
