/** A launcher as a process of this machine: one that this agent started, or one that it found running. */
import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import type { Clock } from '../../controllers/runtime/clock.js';
import { sleep } from '../../controllers/runtime/clock.js';
import { errorCode } from '../files.js';
import type { LauncherClient } from '../launcher-client.js';
import { connectLauncher } from '../launcher-connect.js';
import type { PodDirectory } from '../pod-directory.js';
import { isAlive, readProcess, sendSignal, type ProcessIdentity } from '../processes.js';
import { linkSignals } from '../signals.js';
import { PodError } from './errors.js';
import type { LauncherArguments } from './launcher-arguments.js';
import type { LauncherUser } from './launcher-user.js';

export interface LauncherCommand {
  /** Program and arguments; the pod's own arguments follow. */
  readonly command: readonly string[];
  /** The launcher's whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Who it runs as, if not as this process. */
  readonly user?: LauncherUser | undefined;
}

export interface LauncherExit {
  /** Undefined if a signal ended it, or if it is not known (an adopted launcher). */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/** A launcher that starts at all does so in a fraction of a second, also on a busy node in a few. */
const startTimeoutMilliseconds = 60_000;

export class LauncherProcess {
  private constructor(
    readonly directory: PodDirectory,
    /** Undefined if it ended before it could be looked at. */
    readonly identity: ProcessIdentity | undefined,
    readonly exited: Promise<LauncherExit>,
    private readonly detach: () => void,
  ) {}

  /**
   * Starts a launcher in a session of its own, so that it outlives this agent and no signal to the agent's group reaches
   * it. Rejects with `PodError`.
   */
  static async start(
    directory: PodDirectory,
    { command: [program = '', ...fixed], environment, user }: LauncherCommand,
    { name, namespace, uid }: LauncherArguments,
  ): Promise<LauncherProcess> {
    const own = ['--pod-dir', directory.path, '--namespace', namespace, '--name', name, '--uid', uid];
    const log = await open(directory.log, 'a', 0o600);
    if (user !== undefined) await log.chown(user.uid, user.gid);
    const child = spawn(program, [...fixed, ...own], {
      cwd: directory.path,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: environment,
    });
    // Before anything is awaited: both events come once.
    const failed = new Promise<Error>((resolve) => child.once('error', resolve));
    const exited = new Promise<LauncherExit>((resolve) => {
      child.once('exit', (code, signal) => {
        resolve({ exitCode: code ?? undefined, signal: signal ?? undefined });
      });
    });
    await log.close();
    if (child.pid === undefined) {
      const error = await failed;
      throw new PodError('StartError', `cannot start the launcher "${program}": ${error.message}`, {
        cause: error,
      });
    }
    child.unref();
    const identity = await readProcess(child.pid);
    if (identity !== undefined) await directory.recordLauncher(identity);
    return new LauncherProcess(directory, identity, exited, () => undefined);
  }

  /** Takes over a launcher that runs already. */
  static adopt(directory: PodDirectory, identity: ProcessIdentity, clock: Clock): LauncherProcess {
    const stop = new AbortController();
    const exited = watchForeign(directory, identity, clock, stop.signal);
    // Only `release` makes it reject, after which nobody looks at it.
    exited.catch(() => undefined);
    return new LauncherProcess(directory, identity, exited, () => {
      stop.abort();
    });
  }

  /**
   * Connects as soon as it listens; undefined if it ends before. Rejects with `PodError` if it takes too long, or with the
   * signal's reason.
   */
  async connect(clock: Clock, signal: AbortSignal): Promise<LauncherClient | undefined> {
    const waiting = new AbortController();
    let ended = false;
    const stop = (): void => {
      ended = true;
      waiting.abort();
    };
    this.exited.then(stop, () => undefined);
    const cancel = clock.timer(startTimeoutMilliseconds, () => {
      waiting.abort();
    });
    const link = linkSignals(signal, waiting.signal);
    try {
      return await connectLauncher(this.directory, clock, link.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!waiting.signal.aborted) throw error;
      if (hasEnded()) return undefined;
      const seconds = startTimeoutMilliseconds / 1000;
      throw new PodError(
        'StartError',
        `the launcher does not listen after ${seconds} s; see ${this.directory.log}`,
      );
    } finally {
      cancel();
      link.dispose();
    }

    function hasEnded(): boolean {
      return ended;
    }
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    if (this.identity !== undefined) await sendSignal(this.identity, signal);
  }

  /** Stops watching it, and leaves it running. */
  release(): void {
    this.detach();
  }
}

/** A process that is not our child: its control connection ends with it. */
async function watchForeign(
  directory: PodDirectory,
  identity: ProcessIdentity,
  clock: Clock,
  signal: AbortSignal,
): Promise<LauncherExit> {
  let delay = 20;
  while (await isAlive(identity)) {
    // One that hangs or is about to end accepts nothing: nothing but looking again tells when it is gone.
    const patience = new AbortController();
    const link = linkSignals(signal, patience.signal);
    const cancel = clock.timer(delay, () => {
      patience.abort();
    });
    try {
      const client = await connectLauncher(directory, clock, link.signal);
      cancel();
      const close = (): void => {
        client.close();
      };
      signal.addEventListener('abort', close, { once: true });
      await client.closed;
      signal.removeEventListener('abort', close);
      delay = 20;
      if (await isAlive(identity)) await sleep(clock, delay, signal);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') await sleep(clock, delay, signal);
      else if (!patience.signal.aborted) throw error;
    } finally {
      cancel();
      link.dispose();
    }
    signal.throwIfAborted();
    delay = Math.min(delay * 2, 1000);
  }
  return { exitCode: undefined, signal: undefined };
}
