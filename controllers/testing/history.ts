/** Watches what becomes of VMs, their instances and launchers, and notes whatever must never happen. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Client, Kind } from '../runtime/client.js';
import type { Conditions } from '../runtime/conditions.js';
import { pods, virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import { controllerOf } from '../runtime/writes.js';

/** The edges that KubeVirt documents; every phase but the last two may also fail. */
const edges: Readonly<Record<string, readonly string[]>> = {
  '': ['Pending', 'Scheduling', 'Failed'],
  Pending: ['Scheduling', 'Failed'],
  Scheduling: ['Scheduled', 'Failed'],
  Scheduled: ['Running', 'Succeeded', 'Failed'],
  Running: ['Succeeded', 'Failed'],
  Succeeded: [],
  Failed: [],
};

type WithConditions = KubernetesObject & { status?: { conditions?: Conditions } };

export class History {
  readonly violations: string[] = [];
  readonly #last = new Map<string, WithConditions>();
  /** Launchers that have a node and have not ended; by UID, the name of their VMI. */
  readonly #alive = new Map<string, string>();

  /** Until the signal aborts. */
  async follow(client: Client, signal: AbortSignal): Promise<void> {
    const watch = async <T extends WithConditions>(
      kind: Kind<T>,
      check: (object: T, before: T | undefined) => void,
    ): Promise<void> => {
      for await (const event of client.watch(kind, { resourceVersion: '0' }, signal)) {
        if (event.type === 'BOOKMARK') continue;
        const { uid } = event.object.metadata;
        // What is kept under a UID is of the kind that was watched.
        const before = this.#last.get(uid) as T | undefined;
        this.#checkConditions(event.object, before);
        check(event.object, before);
        if (event.type === 'DELETED') this.#alive.delete(uid);
        this.#last.set(uid, event.object);
      }
    };
    const watches = [
      watch(virtualMachines, () => undefined),
      watch(virtualMachineInstances, (vmi, before) => this.#checkPhases(vmi, before)),
      watch(pods, (pod) => this.#checkAlone(pod)),
    ];
    for (const result of await Promise.allSettled(watches))
      if (result.status === 'rejected' && !signal.aborted) throw result.reason;
  }

  #checkPhases(vmi: VirtualMachineInstance, before: VirtualMachineInstance | undefined): void {
    const [from, to] = [before?.status?.phase ?? '', vmi.status?.phase ?? ''];
    if (from !== to && edges[from]?.includes(to) !== true) this.violations.push(`phase ${from} → ${to}`);
    const times = vmi.status?.phaseTransitionTimestamps ?? [];
    const earlier = before?.status?.phaseTransitionTimestamps ?? [];
    if (JSON.stringify(times.slice(0, earlier.length)) !== JSON.stringify(earlier))
      this.violations.push(`the history of phases was changed: ${JSON.stringify([earlier, times])}`);
    const at = times.map(({ phaseTransitionTimestamp = '' }) => phaseTransitionTimestamp);
    if (at.some((time, index) => time < (at[index - 1] ?? ''))) this.violations.push(`${at.join()} go back`);
    if (new Set(times.map(({ phase }) => phase)).size !== times.length)
      this.violations.push('a phase was entered twice');
    if (to !== '' && times.length > 0 && times.at(-1)?.phase !== to)
      this.violations.push(`phase ${to} is not the last of ${JSON.stringify(times)}`);
  }

  /** Two guests on one disk: the worst that can happen. */
  #checkAlone(pod: Pod): void {
    const { uid } = pod.metadata;
    const ended = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (ended || pod.spec?.nodeName === undefined) this.#alive.delete(uid);
    else this.#alive.set(uid, controllerOf(pod)?.name ?? '');
    const names = [...this.#alive.values()];
    if (new Set(names).size !== names.length) this.violations.push(`two launchers of ${names.join()}`);
  }

  #checkConditions(object: WithConditions, before: WithConditions | undefined): void {
    for (const condition of object.status?.conditions ?? []) {
      const { type, status, lastTransitionTime = '' } = condition;
      const earlier = before?.status?.conditions?.find((each) => each.type === type);
      if (earlier === undefined) continue;
      const { lastTransitionTime: then = '' } = earlier;
      if (status === earlier.status && lastTransitionTime !== then)
        this.violations.push(`${type} of the ${object.kind} stayed ${status}, its time did not`);
      if (lastTransitionTime < then)
        this.violations.push(`the time of ${type} of the ${object.kind} went back`);
    }
  }
}
