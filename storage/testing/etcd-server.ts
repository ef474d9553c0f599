import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why tests can not have an etcd, if so. */
export function etcdMissing(): string | undefined {
  const { error } = spawnSync('etcd', ['--version']);
  return error === undefined ? undefined : 'needs etcd in the PATH (Debian: etcd-server)';
}

export interface EtcdMember {
  readonly endpoint: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again with what it had. */
  restart(): Promise<void>;
  /** Stops it in its tracks: its connections stay open, and nothing answers. */
  pause(): void;
  resume(): void;
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[];
  stop(): Promise<void>;
}

export interface EtcdClusterOptions {
  readonly size?: number;
  readonly flags?: readonly string[];
  /** PEM files. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** Starts a cluster of its own on this machine. */
export async function startEtcd({
  size = 1,
  tls,
  flags: moreFlags = [],
}: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-etcd-'));
  const ports = await freePorts(size * 2);
  const names = Array.from({ length: size }, (_, i) => `m${i}`);
  const peer = (i: number): string => `http://127.0.0.1:${ports[2 * i + 1] ?? 0}`;
  const endpoint = (i: number): string => `${tls ? 'https' : 'http'}://127.0.0.1:${ports[2 * i] ?? 0}`;
  const initialCluster = names.map((name, i) => `${name}=${peer(i)}`).join();
  const tlsFlags = tls
    ? ['--client-cert-auth', '--trusted-ca-file', tls.ca, '--cert-file', tls.cert, '--key-file', tls.key]
    : [];
  const members = names.map((name, i) => {
    const flags = [
      ...['--name', name, '--data-dir', join(directory, name), '--log-level', 'error', '--logger', 'zap'],
      ...['--listen-client-urls', endpoint(i), '--advertise-client-urls', endpoint(i)],
      ...['--listen-peer-urls', peer(i), '--initial-advertise-peer-urls', peer(i)],
      ...['--initial-cluster', initialCluster, '--heartbeat-interval', '50', '--election-timeout', '500'],
      ...tlsFlags,
      ...moreFlags,
    ];
    return new Member(endpoint(i), flags);
  });
  for (const member of members) await member.restart();
  return {
    members,
    stop: async () => {
      for (const member of members) await member.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

class Member implements EtcdMember {
  readonly endpoint: string;
  readonly #flags: readonly string[];
  #process: ChildProcess | undefined;

  constructor(endpoint: string, flags: readonly string[]) {
    this.endpoint = endpoint;
    this.#flags = flags;
  }

  async restart(): Promise<void> {
    this.#process = spawn('etcd', this.#flags, { stdio: 'ignore' });
    await once(this.#process, 'spawn');
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    if (process.exitCode !== null) return;
    const exited = once(process, 'exit');
    process.kill('SIGKILL');
    await exited;
  }
}

/** Ports that are free now. All are held until all are found, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  // The address of a server that listens on a port.
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
