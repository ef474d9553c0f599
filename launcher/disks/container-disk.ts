import { imageContainer } from '../../openapi/launcher/pod.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { failure } from '../errors.js';
import type { DiskContext } from './context.js';
import { diskError, look, readHead } from './files.js';
import { headerLength, inspect } from './format.js';
import { imageFile } from './image-container.js';
import type { DiskImage } from './image.js';
import { overlay } from './overlay.js';

/** The image of a container disk, placed by the node agent or in a container beside this one, under an overlay that takes the guest's writes and goes with the pod. */
export async function containerDisk(volume: string, context: DiskContext): Promise<DiskImage> {
  const placed = `${podLayout.volumes}/${volume}/${podLayout.diskFile}`;
  // Only a pod has no image that its node agent has placed; elsewhere processes of others could pass for a container.
  const path = (await look(placed)) ? placed : ((await inContainer(volume, context)) ?? placed);
  const stats = await look(path);
  if (!stats) throw failure('ImageNotFound', volume, path);
  if (!stats.isFile()) throw failure('ImageRefused', volume, `${path} is not a regular file`);
  if (stats.size === 0) throw failure('ImageRefused', volume, 'it is empty');
  const header = await readHead(path, headerLength).catch((error: unknown) => {
    throw diskError(path, error);
  });
  const inspection = inspect(header);
  if (!inspection.ok) throw failure('ImageRefused', volume, inspection.why);
  return await overlay(volume, { path, format: inspection.format, storage: 'file' }, context.imageTool);
}

function inContainer(volume: string, { vmi }: DiskContext): Promise<string | undefined> {
  const wanted = vmi.spec.volumes?.find(({ name }) => name === volume)?.containerDisk?.path;
  return imageFile(imageContainer(volume), wanted === undefined || wanted === '' ? '/disk/' : wanted);
}
