import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, watch } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname } from 'node:path';
import { asError } from '../clock.js';
import { failure, type LauncherError } from '../errors.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { findExecutable } from './executable.js';

/** A program that serves QEMU on a unix socket and ends with the launcher. */
export interface HelperProgram {
  /** For messages and the log's name. */
  readonly name: string;
  readonly binary: string;
  readonly argv: readonly string[];
  readonly socket: string;
  /** Who listens on the socket. If it is the launcher, the program gets the socket as its standard input. */
  readonly listener?: 'program' | 'launcher';
}

export interface Helper {
  /** Why it has ended, if that was not well. */
  readonly failure: LauncherError | undefined;
  kill(signal?: NodeJS.Signals): void;
}

const startTimeoutMs = 10_000;
const logTailBytes = 1024;

/**
 * Starts a helper; resolves when there is a socket that QEMU may connect to.
 * @throws LauncherError `HelperMissing`, `HelperFailed`; or the signal's reason.
 */
export async function startHelper(
  program: HelperProgram,
  searchPath: string,
  signal: AbortSignal,
): Promise<Helper> {
  const { name, socket } = program;
  const setpriv = findExecutable('setpriv', searchPath);
  if (setpriv === undefined) throw failure('HelperMissing', 'setpriv');
  rmSync(socket, { force: true });
  const given = program.listener === 'launcher' ? await listenAt(socket) : undefined;
  const failedEarly = new AbortController();
  const giveUp = AbortSignal.any([signal, failedEarly.signal, AbortSignal.timeout(startTimeoutMs)]);
  const listens = appearance(socket, giveUp);
  const helper = launch(setpriv, program, given?.descriptor, (error) => failedEarly.abort(error));
  given?.release();
  try {
    await listens;
    return helper;
  } catch (error) {
    helper.kill('SIGKILL');
    if (signal.aborted) throw asError(signal.reason);
    if (failedEarly.signal.aborted) throw asError(failedEarly.signal.reason);
    throw failure('HelperFailed', name, asError(error).message);
  }
}

function launch(
  setpriv: string,
  { name, binary, argv }: HelperProgram,
  stdin: number | undefined,
  onFailure: (error: LauncherError) => void,
): Helper {
  const log = `${podLayout.qemu}/${name}.log`;
  const output = openSync(log, 'a', 0o600);
  const child = spawn(setpriv, ['--pdeathsig', 'KILL', '--no-new-privs', '--', binary, ...argv], {
    stdio: [stdin ?? 'ignore', output, output],
    detached: true,
  });
  closeSync(output);
  let failed: LauncherError | undefined;
  const fail = (why: string): void => {
    failed = failure('HelperFailed', name, why);
    onFailure(failed);
  };
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code, by) => {
    if (code === 0 || child.killed) return;
    const how = by === null ? `exit status ${code ?? 'unknown'}` : `signal ${by}`;
    const tail = existsSync(log) ? readFileSync(log, 'utf8').slice(-logTailBytes).trim() : '';
    fail(tail === '' ? how : `${how}: ${tail}`);
  });
  return {
    get failure() {
      return failed;
    },
    kill: (signal) => void child.kill(signal),
  };
}

interface GivenSocket {
  readonly descriptor: number;
  /** Ends this process's part in it. */
  release(): void;
}

/** A socket that a child is to inherit. Nobody can find it by its name, and so be accepted here, before it is released. */
async function listenAt(path: string): Promise<GivenSocket> {
  const unnamed = `${path}.new`;
  rmSync(unnamed, { force: true });
  const server = createServer().listen(unnamed);
  await once(server, 'listening');
  return {
    descriptor: descriptorOf(server),
    release: () => {
      // Closing it removes the name that it was made with.
      renameSync(unnamed, path);
      server.close();
    },
  };
}

/** Node has no public name for it; the handle of a server has it on every Unix. */
function descriptorOf(server: Server): number {
  const { _handle: handle } = server as Server & { readonly _handle?: { readonly fd?: number } };
  if (handle?.fd === undefined) throw new Error('this Node tells no descriptor of a listening socket');
  return handle.fd;
}

/** Resolves when `path` exists. */
function appearance(path: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      watcher.close();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = () => end(() => reject(asError(signal.reason)));
    const check = () => {
      if (existsSync(path)) end(resolve);
    };
    const watcher = watch(dirname(path), check);
    watcher.once('error', (error) => end(() => reject(error)));
    signal.addEventListener('abort', onAbort, { once: true });
    check();
  });
}
