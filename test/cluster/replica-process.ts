/** `nativirt apiserver` as it is deployed: the built program, in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Surroundings } from './cluster.js';

const program = path.resolve(import.meta.dirname, '../../bin/nativirt');

export interface ReplicaProcess {
  readonly pid: number;
  readonly port: number;
  /** Resolves with its exit status, or with null if a signal has ended it at once. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Resolves once it is ready; rejects if it ends before. */
export async function startReplicaProcess(
  { apiserverFlags }: Surroundings,
  flags: readonly string[],
): Promise<ReplicaProcess> {
  const child = spawn(program, ['apiserver', ...apiserverFlags, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const port = await portOf(child);
  return {
    pid: child.pid ?? 0,
    port,
    async end(signal) {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('the server has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /ready at port (\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error('the server ended before it was ready');
}
