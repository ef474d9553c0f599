/** `nativirt apiserver` over an etcd, each in a process of its own; the cluster around it is in this one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { startEtcd } from '../../storage/testing/etcd-server.js';
import { startSurroundings } from '../cluster/cluster.js';
import { ready, root, type BenchServer } from './server.js';

export interface BenchReplica extends BenchServer {
  readonly endpoints: readonly string[];
}

export async function startReplica(): Promise<BenchReplica> {
  const etcd = await startEtcd();
  const surroundings = await startSurroundings();
  const { ca, directory } = surroundings;
  const endpoints = etcd.members.map(({ endpoint }) => endpoint);
  const begin = performance.now();
  const child = spawn(
    path.join(root, 'bin/nativirt'),
    [
      ...['apiserver', '--etcd-servers', endpoints.join(), '--log-level', 'warn'],
      ...surroundings.apiserverFlags,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const port = await ready(child, /ready at port (\d+)/);
  return {
    pid: child.pid ?? 0,
    url: new URL(`https://localhost:${port}`),
    tls: { ca, ...surroundings.issue('bench', 'client', 'system:masters') },
    startMilliseconds: performance.now() - begin,
    dataDirectory: directory,
    endpoints,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      await surroundings.close();
      await etcd.stop();
    },
  };
}
