/** How long each node's agent has been silent, by our own clock: the clocks of nodes may be wrong. */
import type { Node } from '../../openapi/generated/types/core_v1.js';
import { annotations } from '../constants.js';
import type { Clock } from '../runtime/clock.js';
import { findCondition } from '../runtime/conditions.js';

/** Milliseconds. Agents report every minute; as KubeVirt, five reports may be missed. */
const patience = 300_000;
/** Where the kubelet is silent too, one missed report is enough. */
const patienceWithoutKubelet = 100_000;

export class Heartbeats {
  readonly #heard = new Map<string, { heartbeat: string; at: number }>();

  constructor(private readonly clock: Clock) {}

  /** Milliseconds until the node counts as silent; 0 if it does already. */
  silentIn(node: Node): number {
    const { name } = node.metadata;
    const now = this.clock.monotonic();
    const heartbeat = node.metadata.annotations?.[annotations.heartbeat] ?? '';
    const before = this.#heard.get(name);
    const heard = before?.heartbeat === heartbeat ? before : { heartbeat, at: now };
    this.#heard.set(name, heard);
    return Math.max(0, heard.at + (isKubeletSilent(node) ? patienceWithoutKubelet : patience) - now);
  }

  forget(name: string): void {
    this.#heard.delete(name);
  }
}

function isKubeletSilent({ status }: Node): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'Unknown';
}
