/**
 * Writes the files of a volume as a kubelet does: they stand in a directory that `..data` points to, and the names in the volume point through
 * it. A new `..data` replaces all files at once; who has read half of the old ones sees the other half of them.
 */
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { errorCode, isNotExist } from '../files.js';
import type { LauncherUser } from './launcher-user.js';
import { own } from './ownership.js';
import type { PayloadFile } from './volume-payload.js';

const dataLink = '..data';

/**
 * Idempotent, also after a crash in the middle. Resolves with whether anything has changed.
 * @param user who owns the files; undefined: this process
 */
export async function writePayload(
  target: string,
  files: readonly PayloadFile[],
  user: LauncherUser | undefined,
): Promise<boolean> {
  await mkdir(target, { recursive: true, mode: 0o755 });
  // The last of several sources with one path wins, as in a cluster.
  const wanted = new Map(files.map((file) => [file.path, file]));
  const current = await currentData(target);
  const changed = current === undefined || !(await holds(join(target, current), wanted));
  const data = changed ? `..${randomBytes(6).toString('hex')}` : current;
  if (changed) {
    await writeFiles(join(target, data), wanted, user);
    await symlink(data, join(target, `${data}.link`));
    await rename(join(target, `${data}.link`), join(target, dataLink));
  }
  await linkNames(target, data, wanted);
  return changed;
}

async function currentData(target: string): Promise<string | undefined> {
  try {
    return await readlink(join(target, dataLink));
  } catch (error) {
    if (isNotExist(error)) return undefined;
    throw error;
  }
}

async function holds(directory: string, wanted: ReadonlyMap<string, PayloadFile>): Promise<boolean> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    if (entries.filter((entry) => entry.isFile()).length !== wanted.size) return false;
    for (const { path, content, mode } of wanted.values()) {
      const file = join(directory, path);
      if (((await stat(file)).mode & 0o777) !== mode || !content.equals(await readFile(file))) return false;
    }
    return true;
  } catch (error) {
    if (isNotExist(error)) return false;
    throw error;
  }
}

async function writeFiles(
  directory: string,
  wanted: ReadonlyMap<string, PayloadFile>,
  user: LauncherUser | undefined,
): Promise<void> {
  await mkdir(directory, { mode: 0o755 });
  for (const { path, content, mode } of wanted.values()) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { mode: 0o600 });
    await chmod(file, mode);
    await own(file, user);
  }
}

async function linkNames(
  target: string,
  data: string,
  wanted: ReadonlyMap<string, PayloadFile>,
): Promise<void> {
  const names = new Set([...wanted.keys()].map((path) => path.split('/', 1)[0] ?? ''));
  for (const name of names) {
    try {
      await symlink(join(dataLink, name), join(target, name));
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
  const kept = new Set([...names, dataLink, data]);
  for (const name of await readdir(target))
    if (!kept.has(name)) await rm(join(target, name), { recursive: true, force: true });
}
