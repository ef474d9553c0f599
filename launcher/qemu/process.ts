import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { asError } from '../clock.js';
import { failure, toLauncherError } from '../errors.js';
import { QmpClient } from '../qmp/client.js';
import type { QmpEvent } from '../qmp/messages.js';
import { launcherEnvironment } from '../node-flags.js';
import { findExecutable } from './executable.js';
import type { CommandLine } from './assemble.js';

const startTimeoutMs = 60_000;
const logTailLines = 8;
const logTailBytes = 2048;

/** System calls that QEMU gives up before it serves its guest: to start programs, gain privileges, or change who runs when and where. */
const sandbox = ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'];

export interface QemuExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A QEMU whose guest has not run yet (`-S`), with its channels connected. */
export interface Qemu {
  readonly pid: number;
  readonly version: string;
  readonly qmp: Pick<QmpClient, 'execute'>;
  readonly serial: Socket | undefined;
  readonly agent: Socket;
  readonly exited: Promise<QemuExit>;
  kill(): void;
}

export interface QemuOptions {
  readonly binary: string;
  readonly commandLine: CommandLine;
  readonly searchPath: string;
  readonly hasSerial: boolean;
  readonly onEvent: (event: QmpEvent) => void;
  /** Aborted, it kills the QEMU that is being started. */
  readonly signal: AbortSignal;
}

/**
 * Starts QEMU in the working directory.
 * @throws LauncherError `QEMUMissing`, `HelperMissing`, `QEMURefused`; or the signal's reason.
 */
export async function startQemu(options: QemuOptions): Promise<Qemu> {
  const { commandLine, searchPath, signal, hasSerial } = options;
  const binary = findExecutable(options.binary, searchPath);
  if (binary === undefined) throw failure('QEMUMissing', options.binary);
  const setpriv = findExecutable('setpriv', searchPath);
  if (setpriv === undefined) throw failure('HelperMissing', 'setpriv');
  mkdirSync(podLayout.qemu, { recursive: true, mode: 0o700 });
  const failedEarly = new AbortController();
  const giveUp = AbortSignal.any([signal, failedEarly.signal, AbortSignal.timeout(startTimeoutMs)]);
  const qmpSocket = acceptOne(podLayout.qmpSocket, giveUp);
  const agentSocket = acceptOne(podLayout.guestAgentSocket, giveUp);
  const serialSocket = hasSerial ? acceptOne(podLayout.serialSocket, giveUp) : Promise.resolve(undefined);
  const child = launch(setpriv, binary, commandLine);
  const exited = exitOf(child);
  void exited.then(({ code, signal: by }) => {
    const how = by === null ? `exit status ${code ?? 'unknown'}` : `signal ${by}`;
    failedEarly.abort(failure('QEMURefused', how, logTail()));
  });
  try {
    const [socket, agent, serial] = await Promise.all([qmpSocket, agentSocket, serialSocket]);
    const { client, greeting } = await QmpClient.open(socket, options.onEvent, { signal: giveUp });
    const { pid = 0 } = child;
    return {
      pid,
      version: greeting.version,
      qmp: client,
      serial,
      agent,
      exited,
      kill: () => child.kill('SIGKILL'),
    };
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    if (signal.aborted) throw asError(signal.reason);
    throw toLauncherError(failedEarly.signal.aborted ? failedEarly.signal.reason : error);
  }
}

/**
 * QEMU dies with the launcher: `setpriv` asks the kernel for that and then becomes QEMU, so the pid stays. A launcher that
 * dies before that has no socket for QEMU to connect to, and QEMU gives up by itself. In a session of its own QEMU does not
 * get the signals of the launcher's terminal.
 */
function launch(setpriv: string, binary: string, { argv, environment }: CommandLine): ChildProcess {
  const log = openSync(podLayout.qemuLog, 'a', 0o600);
  try {
    return spawn(setpriv, ['--pdeathsig', 'KILL', '--no-new-privs', '--', binary, ...sandbox, ...argv], {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...inherited(), ...environment },
    });
  } finally {
    closeSync(log);
  }
}

/** The launcher's environment without what is there to keep its own Node small. */
function inherited(): NodeJS.ProcessEnv {
  const own = Object.keys(launcherEnvironment);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.includes(name)));
}

function exitOf(child: ChildProcess): Promise<QemuExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** Listens on a unix socket until the first client has come. */
function acceptOne(path: string, signal: AbortSignal): Promise<Socket> {
  rmSync(path, { force: true });
  const accepted = new Promise<Socket>((resolve, reject) => {
    const server = createServer((socket) => {
      server.close();
      signal.removeEventListener('abort', stop);
      resolve(socket);
    });
    const stop = () => {
      server.close();
      reject(asError(signal.reason));
    };
    server.once('error', reject);
    server.listen(path);
    signal.addEventListener('abort', stop, { once: true });
  });
  // It may fail before anyone waits for it.
  accepted.catch(() => {});
  return accepted;
}

/** The last lines that QEMU has written, for a message. */
export function logTail(): string {
  let text: string;
  try {
    text = readFileSync(podLayout.qemuLog, 'utf8');
  } catch {
    return '';
  }
  return text.slice(-logTailBytes).trim().split('\n').slice(-logTailLines).join(' | ');
}
