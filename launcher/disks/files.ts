import { constants, type Stats } from 'node:fs';
import { lstat, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { errorCode, failure, LauncherError } from '../errors.js';

/** Turns a failed system call on `path` into what the user must know; a full disk is told apart. */
export function diskError(path: string, error: unknown): LauncherError {
  if (error instanceof LauncherError) return error;
  const code = errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return failure('DiskFull', path);
  return failure('DiskFailed', path, error instanceof Error ? error.message : String(error));
}

/** Runs `make` on a temporary name and gives the result its name only when it is complete. */
export async function createAtomically(
  path: string,
  make: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.part`;
  try {
    await rm(temporary, { force: true });
    await make(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw diskError(path, error);
  }
}

export async function writeImage(path: string, content: Uint8Array): Promise<void> {
  await createAtomically(path, (temporary) => writeFile(temporary, content, { mode: 0o600 }));
}

/** What is at `path`, links not followed; undefined when there is nothing. */
export async function look(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw diskError(path, error);
  }
}

/** As `look`, but through links that the node agent made. */
export async function lookThrough(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw diskError(path, error);
  }
}

/** Whether `path` can be opened past the page cache. */
export async function supportsDirectIO(path: string): Promise<boolean> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECT);
    await handle.close();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EINVAL') return false;
    throw diskError(path, error);
  }
}

/** The first `length` bytes of a regular file, or fewer where it is shorter; a link in its place is refused. */
export async function readHead(path: string, length: number): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
