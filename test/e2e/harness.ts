/** A standalone cluster as a user has one: the built program in a process of its own, and the real kubectl. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

const root = path.resolve(import.meta.dirname, '../..');
const fakeQemu = path.join(root, 'test/fake-qemu/fake-qemu.mjs');
export const guestLayout = path.join(root, 'build/guest/oci/nativirt-guest');
export const guestDisk = `oci:${guestLayout}:disk`;
export const guestKernel = `oci:${guestLayout}:kernel`;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ClusterOptions {
  /** Guests that are no QEMU but cost nothing. */
  readonly fakeQemu?: boolean;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a program to its end; never rejects for its exit status. */
export function command(
  file: string,
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(
      file,
      [...args],
      { env: options.env ?? process.env, timeout: options.timeoutMs ?? 120_000, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      },
    );
    // A program that reads nothing may have ended before.
    child.stdin?.on('error', () => undefined).end(options.input ?? '');
  });
}

export class Cluster {
  readonly dataDirectory: string;
  readonly kubeconfig: string;
  private child: ChildProcess | undefined;
  /** Of the last start: what it logged. */
  log = '';

  private constructor(private readonly options: ClusterOptions) {
    this.dataDirectory = mkdtempSync(path.join(tmpdir(), 'nativirt-e2e-'));
    // As root, launchers are another user, who has to pass through.
    chmodSync(this.dataDirectory, 0o711);
    this.kubeconfig = path.join(this.dataDirectory, 'admin.kubeconfig');
  }

  /** Started, and cleaned up after the test with all its virtual machines. */
  static async start(t: TestContext, options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    t.after(() => cluster.destroy());
    await cluster.start();
    return cluster;
  }

  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error('the cluster is not running');
    return pid;
  }

  async start(): Promise<void> {
    this.log = '';
    const child = spawn(
      path.join(root, 'bin/nativirt'),
      [
        'standalone',
        ...['--data-dir', this.dataDirectory, '--secure-port', '0', '--log-level', 'warn'],
        ...['--image-layout-dir', path.dirname(guestLayout)],
        ...(this.options.fakeQemu === true ? ['--qemu', fakeQemu] : []),
        ...(this.options.flags ?? []),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...this.options.environment } },
    );
    this.child = child;
    child.stderr.on('data', (chunk: Buffer) => {
      this.log += chunk.toString();
    });
    const ready = (async () => {
      for await (const line of createInterface({ input: child.stdout }))
        if (line.startsWith('nativirt is ready')) return;
      throw new Error(`standalone ended before it was ready:\n${this.log}`);
    })();
    await withTimeout(ready, 120_000, () => `standalone did not get ready:\n${this.log}`);
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    this.child = undefined;
  }

  kubectl(args: readonly string[], input?: string, timeoutMs?: number): Promise<CommandResult> {
    return command(
      path.join(root, 'build/tools/kubectl'),
      [
        '--kubeconfig',
        this.kubeconfig,
        '--cache-dir',
        path.join(this.dataDirectory, 'kubectl-cache'),
        ...args,
      ],
      {
        ...(input === undefined ? {} : { input }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      },
    );
  }

  /** The standard output of a kubectl that must succeed. */
  async get(args: readonly string[], input?: string): Promise<string> {
    const result = await this.kubectl(args, input);
    if (result.code !== 0)
      throw new Error(`kubectl ${args.join(' ')}: ${result.stderr}\n${this.log.slice(-4000)}`);
    return result.stdout;
  }

  async json<T>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.get([...args, '-o', 'json'])) as T;
  }

  create(manifest: object): Promise<string> {
    return this.get(['create', '-f', '-'], JSON.stringify(manifest));
  }

  /** Waits as a user does. The message of a failure says how things stand. */
  async wait(object: string, condition: string, seconds = 120): Promise<void> {
    const result = await this.kubectl(
      ['wait', object, `--for=${condition}`, `--timeout=${seconds}s`],
      undefined,
      (seconds + 10) * 1000,
    );
    if (result.code === 0) return;
    const [state, events] = await Promise.all([
      this.kubectl(['get', 'vm,vmi,pod', '-o', 'wide']),
      this.kubectl(['get', 'events']),
    ]);
    throw new Error(
      `${object} did not become ${condition}: ${result.stderr}\n${state.stdout}\n${events.stdout}\n${this.log.slice(-4000)}`,
    );
  }

  virt(args: readonly string[], input?: string): Promise<CommandResult> {
    return command(process.execPath, [path.join(root, 'bin/kubectl-virt'), ...args], {
      env: { ...process.env, KUBECONFIG: this.kubeconfig },
      ...(input === undefined ? {} : { input }),
    });
  }

  /** Processes whose command line mentions this cluster's data, besides the server: launchers and their QEMUs. */
  processes(kind: 'launcher' | 'qemu'): number[] {
    const word = kind === 'launcher' ? 'launcher.js' : 'qemu';
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const where = readlinkSync(`/proc/${name}/cwd`);
        const isLauncher = commandLine.includes('launcher.js');
        const ours = where.startsWith(this.dataDirectory);
        return ours && commandLine.includes(word) && isLauncher === (kind === 'launcher')
          ? [Number(name)]
          : [];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
  }

  private async destroy(): Promise<void> {
    await this.kill('SIGKILL');
    for (const pid of [...this.processes('launcher'), ...this.processes('qemu')]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
    rmSync(this.dataDirectory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** The first value that is found, of what has no event of its own: processes of the machine, what kubectl shows. */
export async function eventually<T>(
  what: string,
  found: () => T | false | undefined | Promise<T | false | undefined>,
  seconds = 30,
): Promise<T> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    const value = await found();
    if (value !== false && value !== undefined) return value;
    await delay(100);
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}

export async function withTimeout<T>(
  promise: Promise<T>,
  milliseconds: number,
  message: () => string,
): Promise<T> {
  const stop = new AbortController();
  try {
    return await Promise.race([
      promise,
      delay(milliseconds, undefined, { signal: stop.signal }).then(() => {
        throw new Error(message());
      }),
    ]);
  } finally {
    stop.abort();
  }
}

/** Writes a file that goes with the cluster's data. */
export function writeInto(cluster: Cluster, name: string, content: string): string {
  const file = path.join(cluster.dataDirectory, name);
  writeFileSync(file, content);
  return file;
}
