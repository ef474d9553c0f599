/** Counts what is written, by watching it: every event is one write. */
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Client, Kind } from '../../controllers/runtime/client.js';
import { systemClock } from '../../controllers/runtime/clock.js';
import {
  controllerRevisions,
  events,
  leases,
  nodes,
  pods,
  virtualMachineInstances,
  virtualMachines,
} from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { runReflector } from '../../controllers/runtime/reflector.js';

export type Tally = Readonly<Record<string, number>>;

/** Those whose writes have a goal. */
export const machineKinds = ['virtualmachines', 'virtualmachineinstances', 'pods'] as const;
/** How often a state is looked at whose coming nothing tells. Milliseconds. */
const pollInterval = 250;

export class WriteCounter {
  #counts: Record<string, number> = {};
  readonly #statuses = new Map<string, string>();
  /** When each VM was first seen Running, `performance.now()`. */
  readonly runningAt = new Map<string, number>();
  #lastWrite = performance.now();

  constructor(
    private readonly client: Client,
    private readonly logger: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#count(virtualMachines, signal, (type, vm) => this.#machine(type, vm)),
      this.#count(virtualMachineInstances, signal),
      this.#count(pods, signal),
      this.#count(events, signal),
      this.#count(controllerRevisions, signal),
      this.#count(nodes, signal),
      this.#count(leases, signal),
    ]);
  }

  /** What was written since the last call: `pods`, and of these `pods removed`. */
  take(): Tally {
    const taken = this.#counts;
    this.#counts = {};
    return taken;
  }

  /** VMs by their printable status. */
  count(status: string): number {
    let count = 0;
    for (const each of this.#statuses.values()) if (each === status) count++;
    return count;
  }

  get machines(): number {
    return this.#statuses.size;
  }

  /** Milliseconds since a VM, VMI, pod or event was written. */
  get quietFor(): number {
    return performance.now() - this.#lastWrite;
  }

  /** Resolves when it holds and nothing has been written for `quiet` milliseconds: with when the last write was. */
  async until(what: string, holds: () => boolean, limit: number, quiet = 0): Promise<number> {
    const end = performance.now() + limit;
    while (!holds() || this.quietFor < quiet) {
      if (performance.now() > end)
        throw new Error(
          `not within ${limit / 1000} s: ${what}; VMs are ${JSON.stringify(this.#statusCounts())}`,
        );
      await new Promise<void>((resolve) => {
        systemClock.timer(pollInterval, resolve);
      });
    }
    return this.#lastWrite;
  }

  #statusCounts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const status of this.#statuses.values()) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  async #count<T extends KubernetesObject>(
    kind: Kind<T>,
    signal: AbortSignal,
    see: (type: string, object: T) => void = () => undefined,
  ): Promise<void> {
    const { client, logger } = this;
    const matters = machineKinds.some((each) => each === kind.resource);
    const apply = (type: string, object: T): void => {
      this.#counts[kind.resource] = (this.#counts[kind.resource] ?? 0) + 1;
      const removed = `${kind.resource} removed`;
      if (type === 'DELETED') this.#counts[removed] = (this.#counts[removed] ?? 0) + 1;
      if (matters || kind.resource === 'events') this.#lastWrite = performance.now();
      see(type, object);
    };
    const sink = { replace: () => undefined, apply };
    await runReflector({ client, kind, sink, clock: systemClock, logger }, signal);
  }

  #machine(type: string, { metadata, status }: VirtualMachine): void {
    if (type === 'DELETED') {
      this.#statuses.delete(metadata.name);
      return;
    }
    const now = status?.printableStatus ?? '';
    this.#statuses.set(metadata.name, now);
    if (now === 'Running' && !this.runningAt.has(metadata.name))
      this.runningAt.set(metadata.name, performance.now());
  }
}
