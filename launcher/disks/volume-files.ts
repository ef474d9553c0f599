import { readdir, readFile, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { errorCode, failure } from '../errors.js';
import { diskError, lookThrough } from './files.js';
import type { IsoFile } from './iso9660/image.js';

/**
 * The files of a mounted secret, config map or token, sorted by name. The kubelet mounts them as links into a directory that
 * it swaps as a whole; links that lead out of the volume are refused.
 */
export async function volumeFiles(volume: string): Promise<IsoFile[]> {
  const place = `${podLayout.volumes}/${volume}`;
  try {
    return await filesBelow({ volume, place, root: await realpath(place) }, '');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw failure('VolumeMissing', volume, place);
    throw diskError(place, error);
  }
}

interface Mount {
  readonly volume: string;
  readonly place: string;
  /** `place` without links. */
  readonly root: string;
}

async function filesBelow(mount: Mount, folder: string): Promise<IsoFile[]> {
  const names = (await readdir(`${mount.place}/${folder}`)).filter((name) => !name.startsWith('..'));
  const files: IsoFile[] = [];
  for (const name of names.sort()) {
    const path = `${folder}${name}`;
    const full = `${mount.place}/${path}`;
    if (!(await realpath(full)).startsWith(mount.root + sep)) {
      throw failure('VolumeRefused', mount.volume, `${full} leads out of it`);
    }
    const stats = await lookThrough(full);
    if (stats?.isDirectory()) files.push(...(await filesBelow(mount, `${path}/`)));
    else if (stats?.isFile()) files.push({ path, content: await readFile(full) });
  }
  return files;
}

/** The first of `names` that the volume holds. */
export async function volumeFile(volume: string, names: readonly string[]): Promise<Buffer | undefined> {
  const files = await volumeFiles(volume);
  for (const name of names) {
    const found = files.find(({ path }) => path === name);
    if (found) return Buffer.from(found.content);
  }
  return undefined;
}
