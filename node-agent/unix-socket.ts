/** Connects to sockets in directories that belong to somebody else: a launcher, which may be in its guest's hands. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';

/** No answer: the launcher does not listen, went away, or took too long. */
export class LauncherConnectionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LauncherConnectionError';
  }
}

/** Of Linux on every architecture that Node runs on; Node has no name for it. */
const pathOnly = 0o10000000;

/**
 * Connects to the socket at `path`, which may be longer than a unix socket's address. Neither the socket nor its directory may be a
 * link: whoever owns the directory would choose with whom this process speaks. Rejects with `LauncherConnectionError`, or the
 * signal's reason.
 */
export async function connectUnix(path: string, signal?: AbortSignal): Promise<Socket> {
  signal?.throwIfAborted();
  const socket = await connectBelow(path, signal);
  // The launcher may have ended meanwhile, and nobody would hear of it any more.
  if (socket.destroyed)
    throw cannotConnect(path, socket.errored ?? new Error('the launcher closed the connection'));
  return socket;
}

async function connectBelow(path: string, signal?: AbortSignal): Promise<Socket> {
  const directory = await openAt(dirname(path), constants.O_DIRECTORY | constants.O_NOFOLLOW, path);
  try {
    const within = `/proc/self/fd/${directory.fd}/${basename(path)}`;
    const socket = await openAt(within, pathOnly | constants.O_NOFOLLOW, path);
    try {
      if (!(await socket.stat()).isSocket())
        throw new LauncherConnectionError(`cannot connect to ${path}: it is no socket`);
      return await connected(`/proc/self/fd/${socket.fd}`, path, signal);
    } finally {
      await socket.close();
    }
  } finally {
    await directory.close();
  }
}

async function openAt(address: string, flags: number, path: string): ReturnType<typeof open> {
  try {
    return await open(address, flags);
  } catch (error) {
    throw cannotConnect(path, error);
  }
}

function cannotConnect(path: string, error: unknown): LauncherConnectionError {
  const why = error instanceof Error ? error.message : String(error);
  return new LauncherConnectionError(`cannot connect to ${path}: ${why}`, { cause: error });
}

function connected(address: string, path: string, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path: address });
    const settle = (): void => {
      signal?.removeEventListener('abort', abort);
      socket.off('error', fail).off('connect', succeed);
    };
    const abort = (): void => {
      settle();
      socket.destroy();
      reject(signal?.reason as Error);
    };
    const fail = (error: Error): void => {
      settle();
      reject(cannotConnect(path, error));
    };
    const succeed = (): void => {
      // Until the caller listens.
      socket.on('error', () => undefined);
      settle();
      resolve(socket);
    };
    if (signal?.aborted === true) {
      abort();
      return;
    }
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', fail).once('connect', succeed);
  });
}
