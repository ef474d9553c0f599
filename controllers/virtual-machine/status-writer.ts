/** Writes the status of VMs: when its meaning has changed, and it is not about to change again. */
import type { PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { findClaims } from '../claims.js';
import { conditionTypes } from '../constants.js';
import { Patience } from '../patience.js';
import type { Client } from '../runtime/client.js';
import type { Clock } from '../runtime/clock.js';
import { findCondition } from '../runtime/conditions.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import { virtualMachines } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';
import { failureOf } from './data-volumes.js';
import type { Outcome } from './instances.js';
import type { Observation } from './observation.js';
import { isPassing, passingKey, patienceWith } from './passing.js';
import { nextStatus } from './status.js';

/** A claim is bound in less: only one that stays unbound is worth a word in the status. Milliseconds. */
const claimPatience = 5000;

export interface Written {
  /** Undefined: nothing was written. */
  readonly written?: VirtualMachine | undefined;
  /** Milliseconds. */
  readonly lookAgainAfter?: number;
}

export class StatusWriter {
  readonly #passing: Patience;

  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly claims: Informer<PersistentVolumeClaim>,
    private readonly clock: Clock,
  ) {
    this.#passing = new Patience(clock);
  }

  async write(observation: Observation, outcome: Outcome, signal: AbortSignal): Promise<Written> {
    const { stored, unsettled, volumes, dataVolumes } = observation;
    const now = this.clock.now();
    const unbound = this.#longestUnbound(observation.vm, now);
    const problem = unsettled ?? (volumes.kind === 'refused' ? volumes.failure : undefined);
    const status = nextStatus({
      ...observation,
      vmi: outcome.vmi,
      failure: outcome.failure ?? problem ?? failureOf(dataVolumes),
      waitsForVolumes: unbound !== undefined && unbound >= claimPatience,
      now,
    });
    const passing = this.#passesFor(stored, outcome.vmi, status);
    if (passing > 0) return { lookAgainAfter: passing };
    const written = await patchStatus(this.client, virtualMachines, stored, status, signal);
    const told = findCondition(stored.status?.conditions, conditionTypes.failure)?.message;
    if (problem !== undefined && told !== problem.message)
      this.recorder.event(stored, 'Warning', problem.reason, problem.message);
    return {
      written,
      ...(unbound === undefined || unbound >= claimPatience
        ? {}
        : { lookAgainAfter: claimPatience - unbound }),
    };
  }

  /** The instance is gone. */
  forget(vmi: VirtualMachineInstance): void {
    for (const starts of [true, false]) this.#passing.end(passingKey(vmi, starts));
  }

  /** For how many milliseconds a claim has waited to be bound; undefined if none waits. */
  #longestUnbound({ metadata, spec }: VirtualMachine, now: number): number | undefined {
    const waiting = findClaims(this.claims, metadata.namespace, spec.template.spec)
      .filter(({ object }) => object?.status?.phase === 'Pending')
      .map(({ object }) => now - Date.parse(object?.metadata.creationTimestamp ?? ''));
    return waiting.length === 0 ? undefined : Math.max(...waiting);
  }

  /** For how many milliseconds more the status need not be told. */
  #passesFor(
    vm: VirtualMachine,
    vmi: VirtualMachineInstance | undefined,
    wanted: VirtualMachineStatus,
  ): number {
    if (vmi === undefined) return 0;
    const key = passingKey(vmi, wanted.printableStatus === 'Starting');
    if (isPassing(vm, wanted)) return patienceWith(vm, wanted) - this.#passing.waited(key);
    this.#passing.end(key);
    return 0;
  }
}
