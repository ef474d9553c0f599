/** Connects to a launcher as soon as its control socket is there. */
import { watch } from 'node:fs';
import type { Clock } from '../controllers/runtime/clock.js';
import { podLayout } from '../openapi/launcher/protocol.js';
import { LauncherClient } from './launcher-client.js';
import type { LauncherDirectory } from './launcher-directory.js';
import { LauncherConnectionError } from './unix-socket.js';
import { Wakeup } from './wakeup.js';

/** A socket file may exist for a moment before its server listens: no event tells when it does. */
const listenGraceMilliseconds = 10;

/**
 * Waits for the socket, woken by the directory's changes. The pod directory must exist. Rejects with the signal's reason
 * only: give it one that aborts when the launcher ends.
 */
export async function connectLauncher(
  directory: LauncherDirectory,
  clock: Clock,
  signal: AbortSignal,
  callTimeoutMilliseconds = 30_000,
): Promise<LauncherClient> {
  signal.throwIfAborted();
  const options = { clock, timeoutMilliseconds: callTimeoutMilliseconds };
  const wakeup = new Wakeup();
  const notice = (): void => {
    wakeup.notice();
  };
  const watcher = watch(directory.path, (_event, name) => {
    if (name === podLayout.controlSocket) notice();
  });
  watcher.on('error', notice);
  signal.addEventListener('abort', notice, { once: true });
  try {
    for (;;) {
      let cancelTimer: (() => void) | undefined;
      try {
        return await LauncherClient.connect(directory.controlSocket, options, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof LauncherConnectionError)) throw error;
        if (/ECONNREFUSED/.test(error.message)) cancelTimer = clock.timer(listenGraceMilliseconds, notice);
      }
      await wakeup.wait();
      cancelTimer?.();
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', notice);
    watcher.close();
  }
}
