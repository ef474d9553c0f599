import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { asError } from '../clock.js';
import { failure } from '../errors.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { findExecutable } from './executable.js';

/** A program that serves QEMU on a unix socket and ends with the launcher. */
export interface HelperProgram {
  /** For messages and the log's name. */
  readonly name: string;
  readonly binary: string;
  readonly argv: readonly string[];
  readonly socket: string;
}

const startTimeoutMs = 10_000;
const logTailBytes = 1024;

/**
 * Starts a helper; resolves when its socket is there.
 * @throws LauncherError `HelperMissing`, `HelperFailed`; or the signal's reason.
 */
export async function startHelper(
  { name, binary, argv, socket }: HelperProgram,
  searchPath: string,
  signal: AbortSignal,
): Promise<ChildProcess> {
  const setpriv = findExecutable('setpriv', searchPath);
  if (setpriv === undefined) throw failure('HelperMissing', 'setpriv');
  const log = `${podLayout.qemu}/${name}.log`;
  rmSync(socket, { force: true });
  const failedEarly = new AbortController();
  const giveUp = AbortSignal.any([signal, failedEarly.signal, AbortSignal.timeout(startTimeoutMs)]);
  const listens = appearance(socket, giveUp);
  const output = openSync(log, 'a', 0o600);
  const child = spawn(setpriv, ['--pdeathsig', 'KILL', '--no-new-privs', '--', binary, ...argv], {
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  child.once('error', (error) => failedEarly.abort(failure('HelperFailed', name, error.message)));
  child.once('exit', (code, by) => {
    const how = by === null ? `exit status ${code ?? 'unknown'}` : `signal ${by}`;
    const tail = readFileSync(log, 'utf8').slice(-logTailBytes).trim();
    failedEarly.abort(failure('HelperFailed', name, tail === '' ? how : `${how}: ${tail}`));
  });
  try {
    await listens;
    // Its end is QEMU's matter from now on.
    child.removeAllListeners('exit');
    return child;
  } catch (error) {
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
    if (signal.aborted) throw asError(signal.reason);
    if (failedEarly.signal.aborted) throw asError(failedEarly.signal.reason);
    throw failure('HelperFailed', name, asError(error).message);
  }
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
