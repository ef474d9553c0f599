/** Kills replicas and members of etcd in turn, and starts them again. */
import { setTimeout } from 'node:timers/promises';
import type { EtcdMember } from '../../storage/testing/etcd-server.js';
import type { Random } from './random.js';
import type { Replica } from './replicas.js';

export type Tell = (what: string) => void;

/** Starts it until it stays: while etcd has no leader, an API server gives up. */
export async function startSurely(replica: Replica, tell: Tell): Promise<void> {
  for (let left = 20; ; left--) {
    try {
      await replica.start();
      return;
    } catch (error) {
      if (left === 0) throw error;
      tell(`replica ${replica.index} did not start: ${String(error)}`);
      await setTimeout(500);
    }
  }
}

/** Resolves, once the signal has aborted, with how many were ended; all run again then. */
export async function breakReplicas(
  replicas: readonly Replica[],
  random: Random,
  tell: Tell,
  signal: AbortSignal,
): Promise<number> {
  let faults = 0;
  for (let turn = random.integer(replicas.length); !signal.aborted; turn++) {
    const replica = replicas[turn % replicas.length];
    if (replica === undefined) break;
    const how = random.fraction() < 0.25 ? 'SIGTERM' : 'SIGKILL';
    await setTimeout(random.integer(1500));
    tell(`${how} to replica ${replica.index}`);
    const status = await replica.end(how);
    if (how === 'SIGTERM' && status !== 0)
      throw new Error(`replica ${replica.index} ended with ${String(status)} after SIGTERM`);
    faults++;
    await setTimeout(random.integer(1000));
    await startSurely(replica, tell);
    tell(`replica ${replica.index} is ready`);
  }
  return faults;
}

/** As `breakReplicas`; a member may also stand still for a while. */
export async function breakMembers(
  members: readonly EtcdMember[],
  random: Random,
  tell: Tell,
  signal: AbortSignal,
): Promise<number> {
  let faults = 0;
  for (let turn = random.integer(members.length); !signal.aborted; turn++) {
    const at = turn % members.length;
    const member = members[at];
    if (member === undefined) break;
    await setTimeout(500 + random.integer(1500));
    if (random.fraction() < 0.3) {
      tell(`member ${at} stands still`);
      member.pause();
      await setTimeout(500 + random.integer(2500));
      member.resume();
    } else {
      tell(`SIGKILL to member ${at}`);
      await member.kill();
      await setTimeout(random.integer(1500));
      await member.restart();
    }
    faults++;
    await healthy(member);
    tell(`member ${at} is healthy`);
  }
  return faults;
}

/** Resolves when the member knows a leader and answers. */
export async function healthy({ endpoint }: EtcdMember): Promise<void> {
  for (let left = 300; left > 0; left--) {
    const isHealthy = await fetch(`${endpoint}/health`, { signal: AbortSignal.timeout(5000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isHealthy) return;
    await setTimeout(100);
  }
  throw new Error(`${endpoint} does not become healthy`);
}
