/** Small file helpers: every file that another process or a later start reads is written whole or not at all. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

export function isNotExist(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

export interface WriteOptions {
  readonly mode?: number;
  /** Survives a power failure. Costs a disk flush. */
  readonly durable?: boolean;
}

/** Writes beside the target and renames over it. */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, durable = false }: WriteOptions = {},
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(data);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  if (durable) await syncDirectory(dirname(path));
}

/** The file's text, or undefined if there is none. */
export async function readTextIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isNotExist(error)) return undefined;
    throw error;
  }
}

/**
 * As `readTextIfPresent`, for a file that somebody less trusted has written: links, pipes and devices are refused, and so is more than
 * `longest` bytes.
 */
export async function readForeignTextIfPresent(path: string, longest: number): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isNotExist(error)) return undefined;
    throw error;
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    if (stats.size > longest) throw new Error(`${path} is longer than ${longest} bytes`);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
