/** Scheduler, kubelet and node agent of the tests: what they do to launchers and instances, step by step. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { unpausedGate } from '../../openapi/launcher/pod.js';
import { timestamp } from '../runtime/clock.js';
import { withCondition } from '../runtime/conditions.js';
import { pods, virtualMachineInstances } from '../runtime/kinds.js';
import type { FakeClient } from '../runtime/testing/fake-client.js';
import type { FakeClock } from '../runtime/testing/fake-clock.js';
import { isControlledBy } from '../runtime/writes.js';

type FinalPhase = 'Succeeded' | 'Failed';

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const compute = (startedAt: string) => ({
  name: 'compute',
  image: '',
  imageID: '',
  ready: true,
  restartCount: 0,
  state: { running: { startedAt } },
});

export class SimulatedNode {
  constructor(
    private readonly client: FakeClient,
    private readonly clock: FakeClock,
    readonly name = 'node1',
  ) {}

  bindPods(): void {
    for (const { metadata, spec } of this.client.all(pods))
      if (spec?.nodeName === undefined && metadata.deletionTimestamp === undefined)
        this.client.put(pods, metadata, (pod) => ({
          ...pod,
          spec: { ...pod.spec, containers: pod.spec?.containers ?? [], nodeName: this.name },
        }));
  }

  startPods(): void {
    for (const pod of this.#mine())
      if (!hasEnded(pod) && pod.metadata.deletionTimestamp === undefined && pod.status?.phase !== 'Running')
        this.client.put(pods, pod.metadata, (each) => ({
          ...each,
          status: {
            phase: 'Running' as const,
            conditions: [
              { type: 'Ready', status: 'True' },
              { type: unpausedGate, status: 'True' },
            ],
            containerStatuses: [compute(timestamp(this.clock.now()))],
          },
        }));
  }

  /** Its container ends; the agent's word on it comes with `endGuests`, or never. */
  endPods(phase: FinalPhase): void {
    for (const pod of this.#mine())
      if (!hasEnded(pod)) this.client.put(pods, pod.metadata, (each) => ({ ...each, status: { phase } }));
  }

  /** The kubelet has ended what it was asked to end, and lets it go. */
  finishPods(): void {
    for (const { metadata } of this.#mine())
      if (metadata.deletionTimestamp !== undefined) this.client.remove(pods, metadata);
  }

  /** Guests start whose launcher runs. */
  startGuests(): void {
    for (const vmi of this.client.all(virtualMachineInstances)) {
      const runs = this.#launchers(vmi).some(
        ({ metadata, status }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined,
      );
      if (vmi.status?.phase === 'Scheduled' && runs) this.#report(vmi, 'Running');
    }
  }

  endGuests(phase: FinalPhase): void {
    for (const vmi of this.client.all(virtualMachineInstances))
      if (vmi.status?.phase === 'Running' || vmi.status?.phase === 'Scheduled') this.#report(vmi, phase);
  }

  #report({ metadata }: VirtualMachineInstance, phase: FinalPhase | 'Running'): void {
    const now = this.clock.now();
    const running = phase === 'Running';
    const ready = {
      type: 'Ready',
      status: running ? 'True' : 'False',
      ...(running ? {} : { reason: 'GuestNotRunning', message: 'the guest is not running' }),
    } as const;
    this.client.put(virtualMachineInstances, metadata, ({ status, ...vmi }) => ({
      ...vmi,
      status: {
        ...status,
        phase,
        conditions: withCondition(status?.conditions, ready, now),
        phaseTransitionTimestamps: [
          ...(status?.phaseTransitionTimestamps ?? []),
          { phase, phaseTransitionTimestamp: timestamp(now) },
        ],
      },
    }));
  }

  #mine(): Pod[] {
    return this.client.all(pods).filter(({ spec }) => spec?.nodeName === this.name);
  }

  #launchers(vmi: VirtualMachineInstance): Pod[] {
    return this.#mine().filter((pod) => isControlledBy(pod, vmi));
  }
}
