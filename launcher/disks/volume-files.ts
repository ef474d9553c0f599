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
    const root = await realpath(place);
    const names = (await readdir(place)).filter((name) => !name.startsWith('..')).sort();
    const files: IsoFile[] = [];
    for (const name of names) {
      const path = `${place}/${name}`;
      const target = await realpath(path);
      if (!target.startsWith(root + sep)) throw failure('VolumeRefused', volume, `${path} leads out of it`);
      if ((await lookThrough(path))?.isFile()) files.push({ path: name, content: await readFile(path) });
    }
    return files;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw failure('VolumeMissing', volume, place);
    throw diskError(place, error);
  }
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
