import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import {
  podLayout,
  type DomainState,
  type DomainStatus,
  type LauncherMethods,
} from '../../openapi/launcher/protocol.js';
import { launcherEnvironment, launcherNodeFlags } from '../../launcher/node-flags.js';
import { fakeQemu } from './path.js';

/** Bundles the launcher as the build does, into a temporary directory that the caller removes. */
export async function bundleLauncher(): Promise<{ readonly bundle: string; readonly remove: () => void }> {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-launcher-'));
  // Any user may run it.
  chmodSync(directory, 0o755);
  const bundle = join(directory, 'launcher.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('../../deploy/commands/launcher.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    outfile: bundle,
    logLevel: 'silent',
  });
  return { bundle, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

export interface LauncherProcessOptions {
  readonly bundle: string;
  readonly uid?: string;
  readonly podDir?: string;
  /** Who runs it, if not who runs the test. */
  readonly user?: number | undefined;
  readonly qemu?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of `launcherNodeFlags` and `launcherEnvironment`, to compare. */
  readonly nodeFlags?: readonly string[];
  readonly nodeEnv?: Readonly<Record<string, string>>;
}

/** A launcher as a process of its own, in a pod directory of its own. */
export class LauncherProcess {
  readonly podDir: string;
  readonly exited: Promise<number | null>;
  readonly child: ChildProcess;
  readonly uid: string;

  constructor(options: LauncherProcessOptions) {
    const { bundle, uid = 'uid-1', podDir, user, qemu = fakeQemu, env = {} } = options;
    const { nodeFlags = launcherNodeFlags, nodeEnv = launcherEnvironment } = options;
    this.uid = uid;
    this.podDir = podDir ?? mkdtempSync(join(tmpdir(), 'nativirt-pod-'));
    mkdirSync(join(this.podDir, podLayout.volumes), { recursive: true });
    const argv = [
      '--pod-dir',
      this.podDir,
      '--name',
      'vm',
      '--namespace',
      'ns',
      '--uid',
      uid,
      '--qemu',
      qemu,
    ];
    this.child = spawn(process.execPath, [...nodeFlags, bundle, ...argv], {
      stdio: 'inherit',
      env: { ...process.env, ...nodeEnv, ...env },
      ...(user === undefined ? {} : { uid: user, gid: user }),
    });
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
  }

  /** Connects, as soon as the launcher listens. */
  async connect(): Promise<LauncherConnection> {
    for (let attempt = 0; attempt < 2000 && this.child.exitCode === null; attempt++) {
      const socket = await dial(join(this.podDir, podLayout.controlSocket));
      if (socket) return new LauncherConnection(socket);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error('the launcher does not listen');
  }

  lastStatus(): DomainStatus {
    return JSON.parse(readFileSync(join(this.podDir, podLayout.status), 'utf8')) as DomainStatus;
  }

  /** Kills it if it still runs, and removes its pod directory. */
  async remove(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
    rmSync(this.podDir, { recursive: true, force: true });
  }
}

function dial(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

export class LauncherCallError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly params?: DomainStatus;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client of the control socket. */
export class LauncherConnection {
  /** Every status that was notified. */
  readonly statuses: DomainStatus[] = [];
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly watchers = new Set<() => void>();
  private buffer: Buffer = Buffer.alloc(0);
  private rawRequest: number | undefined;
  private nextId = 1;
  private closed = false;

  constructor(readonly socket: Socket) {
    socket.on('data', this.onData);
    socket.on('close', () => {
      this.closed = true;
      for (const watcher of this.watchers) watcher();
    });
  }

  async call<M extends keyof LauncherMethods>(
    method: M,
    params?: LauncherMethods[M]['params'],
  ): Promise<LauncherMethods[M]['result']> {
    const id = this.nextId++;
    const answered = new Promise<Answer>((resolve) => this.waiting.set(id, resolve));
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { error, result } = await answered;
    if (error) throw new LauncherCallError(error.code, error.message);
    return result;
  }

  /** Turns the connection into the raw console. */
  console(mode: LauncherMethods['console']['params']['mode']): Promise<Socket> {
    return this.raw('console', { mode });
  }

  /** Calls what turns the connection into a byte stream. */
  async raw<M extends 'console' | 'portForward'>(
    method: M,
    params: LauncherMethods[M]['params'],
  ): Promise<Socket> {
    this.rawRequest = this.nextId;
    await this.call(method, params);
    return this.socket;
  }

  /** Resolves with the first notified status that fits, past ones included. */
  async until(fits: (status: DomainStatus) => boolean): Promise<DomainStatus> {
    for (;;) {
      const found = this.statuses.find(fits);
      if (found) return found;
      if (this.closed) {
        throw new Error(`the connection closed; last status: ${JSON.stringify(this.statuses.at(-1))}`);
      }
      await new Promise<void>((resolve) => {
        const watcher = () => {
          this.watchers.delete(watcher);
          resolve();
        };
        this.watchers.add(watcher);
      });
    }
  }

  state(...states: DomainState[]): Promise<DomainStatus> {
    return this.until(({ state }) => states.includes(state));
  }

  private readonly onData = (chunk: Buffer) => {
    this.buffer = Buffer.concat([this.buffer, chunk]);
    for (;;) {
      const end = this.buffer.indexOf('\n');
      if (end < 0) return;
      const message = JSON.parse(this.buffer.toString('utf8', 0, end)) as Answer;
      this.buffer = this.buffer.subarray(end + 1);
      if (message.id !== undefined && message.id === this.rawRequest && !message.error) this.goRaw();
      this.handle(message);
    }
  };

  /** What follows the answer is the console's. */
  private goRaw(): void {
    this.socket.off('data', this.onData);
    this.socket.pause();
    if (this.buffer.length > 0) this.socket.unshift(this.buffer);
    this.buffer = Buffer.alloc(0);
  }

  private handle(message: Answer): void {
    if (message.method === 'statusChanged' && message.params) {
      this.statuses.push(message.params);
      for (const watcher of this.watchers) watcher();
    } else if (message.id !== undefined) {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    }
  }
}

/** Reads a console until `text` has come. */
export function readUntil(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const onData = (chunk: Buffer) => {
      seen += chunk.toString();
      if (!seen.includes(text)) return;
      socket.off('data', onData);
      socket.pause();
      resolve(seen);
    };
    socket.on('data', onData);
    socket.resume();
    socket.once('close', () => reject(new Error(`the console closed before ${text} came; it said: ${seen}`)));
  });
}

/** A VMI of the smallest kind, for a launcher with `uid`. */
export function smallVmi(
  uid: string,
  spec: Partial<VirtualMachineInstance['spec']> = {},
): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: 'vm',
      namespace: 'ns',
      uid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-02T03:04:05Z',
    },
    spec: { domain: { devices: {}, memory: { guest: '64Mi' } }, ...spec },
  };
}
