/** The standalone control plane as a child process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpClient, type HttpClient } from '../../controllers/runtime/http-client.js';
import { loadKubeconfig, type ConnectionOptions } from '../../controllers/runtime/kubeconfig.js';

const executable = resolve(import.meta.dirname, '../../bin/nativirt');
/** Where the guest image is. */
const imageLayouts = resolve(import.meta.dirname, '../../build/guest/oci');
const stopTimeout = 20_000;

export class ControlPlaneError extends Error {
  override readonly name = 'ControlPlaneError';
}

export class ControlPlane {
  private constructor(
    private readonly child: ChildProcess,
    readonly kubeconfig: string,
    readonly connection: ConnectionOptions,
    readonly client: HttpClient,
  ) {}

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get server(): string {
    return this.connection.server;
  }

  /** Starts it on a free port and waits until it answers. It outlives this process unless `stop` is called. */
  static async start(dataDirectory: string, signal: AbortSignal): Promise<ControlPlane> {
    const log = join(dataDirectory, 'standalone.log');
    const output = openSync(log, 'a', 0o600);
    const argv = [
      ...['standalone', '--data-dir', dataDirectory, '--secure-port', '0'],
      ...['--image-layout-dir', imageLayouts],
    ];
    // In a session of its own: Ctrl+C at the demo is the demo's to handle.
    const child = spawn(executable, argv, { detached: true, stdio: ['ignore', 'pipe', output] });
    closeSync(output);
    try {
      await ControlPlane.untilReady(child, log, signal);
      const kubeconfig = join(dataDirectory, 'admin.kubeconfig');
      const connection = await loadKubeconfig(kubeconfig);
      return new ControlPlane(
        child,
        kubeconfig,
        connection,
        createHttpClient({ ...connection, userAgent: 'nativirt-demo' }),
      );
    } catch (error) {
      child.kill('SIGTERM');
      throw error;
    }
  }

  /** It prints one line on standard output when it is ready. */
  private static async untilReady(child: ChildProcess, log: string, signal: AbortSignal): Promise<void> {
    const { stdout } = child;
    if (stdout === null) throw new ControlPlaneError('the control plane has no standard output');
    const exited = once(child, 'exit', { signal }).then(async ([code]: unknown[]) => {
      const tail = (await readFile(log, 'utf8')).trim().split('\n').slice(-5).join('\n');
      throw new ControlPlaneError(`the control plane ended with exit code ${String(code)}:\n${tail}`);
    });
    const printed = once(stdout, 'data', { signal });
    try {
      await Promise.race([printed, exited]);
    } finally {
      exited.catch(() => undefined);
      stdout.resume();
    }
  }

  /** Leaves it running when this process ends. */
  release(): void {
    this.child.stdout?.destroy();
    this.child.unref();
    this.client.close();
  }

  async stop(): Promise<void> {
    this.client.close();
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const stopped = await Promise.race([exited.then(() => true), sleep(stopTimeout, false, { ref: false })]);
    if (!stopped) {
      this.child.kill('SIGKILL');
      await exited;
      throw new ControlPlaneError(
        `the control plane did not stop within ${stopTimeout / 1000} s and was killed`,
      );
    }
  }
}
