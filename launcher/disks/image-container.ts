import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import { imageHolder } from '../../openapi/launcher/pod.js';
import { errorCode, failure } from '../errors.js';

/** As the kernel has it. */
const mostLinks = 40;

/**
 * A file of the image that a container of this pod holds; undefined if the pod has no such container.
 * @param path absolute in the image, or a folder with a slash at its end for the only file in it
 * @returns a path that no link is part of
 * @throws LauncherError `ImageNotFound`, `ImageRefused`
 */
export async function imageFile(
  container: string,
  path: string,
  proc = '/proc',
): Promise<string | undefined> {
  const pid = await holderOf(container, proc);
  if (pid === undefined) return undefined;
  const root = `${proc}/${pid}/root`;
  try {
    const wanted = path.endsWith('/') ? await onlyFile(root, path, container) : path;
    return root + (await resolveWithin(root, wanted, container));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR')
      throw failure('ImageNotFound', container, path);
    throw error;
  }
}

/** Every image holder of this pod, for the end of the launcher. */
export async function imageHolders(proc = '/proc'): Promise<number[]> {
  return (await processes(proc)).map(({ pid }) => pid);
}

async function holderOf(container: string, proc: string): Promise<number | undefined> {
  return (await processes(proc)).find(({ name }) => name === container)?.pid;
}

async function processes(proc: string): Promise<{ pid: number; name: string }[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // One that has ended, or is none of ours.
      const text = await readFile(`${proc}/${pid}/cmdline`, 'utf8').catch(() => '');
      const [program, name = ''] = text.split('\0');
      return program === imageHolder.path ? [{ pid: Number(pid), name }] : [];
    }),
  );
  return found.flat();
}

async function onlyFile(root: string, folder: string, container: string): Promise<string> {
  const place = await resolveWithin(root, folder, container);
  const entries = await readdir(root + place, { withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'));
  const [file, ...others] = files;
  if (file === undefined) throw failure('ImageNotFound', container, folder);
  if (others.length > 0)
    throw failure('ImageRefused', container, `${folder} holds ${files.length} files: say which by its path`);
  return posix.join(place, file.name);
}

/**
 * The path without links. The kernel would take an absolute link in the image for one of this container; here it leads to a file of
 * the image, and none leads out of it. The image can not change meanwhile: its container writes nothing.
 */
async function resolveWithin(root: string, path: string, container: string): Promise<string> {
  let resolved = '';
  let links = 0;
  const todo = path.split('/').filter((word) => word !== '');
  for (let word = todo.shift(); word !== undefined; word = todo.shift()) {
    if (word === '.') continue;
    if (word === '..') {
      resolved = resolved === '' ? '' : dirname(resolved).replace(/\/$/, '');
      continue;
    }
    const next = `${resolved}/${word}`;
    if (!(await lstat(root + next)).isSymbolicLink()) {
      resolved = next;
      continue;
    }
    if (++links > mostLinks) throw failure('ImageRefused', container, `${path} has too many links`);
    const target = await readlink(root + next);
    if (target.startsWith('/')) resolved = '';
    todo.unshift(...target.split('/').filter((each) => each !== ''));
  }
  return resolved;
}
