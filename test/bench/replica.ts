/** `nativirt apiserver` over an etcd, each in a process of its own; the cluster around it is in this one. */
import type { EtcdCluster } from '../../storage/testing/etcd-server.js';
import { startTcpProxy } from '../../storage/testing/tcp-proxy.js';
import { startSurroundings } from '../cluster/cluster.js';
import { startReplicaProcess } from '../cluster/replica-process.js';
import type { BenchServer } from './server.js';

export interface BenchReplica extends BenchServer {
  /** Where it finds etcd. */
  readonly endpoints: readonly string[];
}

/** @param away how far etcd is: milliseconds to it, and as many back. */
export async function startReplica(etcd: EtcdCluster, away: number): Promise<BenchReplica> {
  const lines = await Promise.all(
    etcd.members.map(({ endpoint }) => startTcpProxy(Number(new URL(endpoint).port))),
  );
  for (const line of lines) line.delay(away);
  const surroundings = await startSurroundings();
  const { ca, directory } = surroundings;
  const endpoints =
    away === 0
      ? etcd.members.map(({ endpoint }) => endpoint)
      : lines.map(({ port }) => `http://127.0.0.1:${port}`);
  const begin = performance.now();
  const flags = ['--etcd-servers', endpoints.join(), '--etcd-prefix', `/away-${away}`, '--log-level', 'warn'];
  const replica = await startReplicaProcess(surroundings, flags);
  return {
    pid: replica.pid,
    url: new URL(`https://localhost:${replica.port}`),
    tls: { ca, ...surroundings.issue('bench', 'client', 'system:masters') },
    startMilliseconds: performance.now() - begin,
    dataDirectory: directory,
    endpoints,
    async stop() {
      await replica.end('SIGTERM');
      await surroundings.close();
      await Promise.all(lines.map((line) => line.close()));
    },
  };
}
