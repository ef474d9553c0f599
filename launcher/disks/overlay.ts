import { isAbsolute, relative } from 'node:path';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { createAtomically, look, readHead, supportsDirectIO } from './files.js';
import { backingFileName } from './format.js';
import type { DiskImage, ImageFile } from './image.js';
import type { ImageTool } from './qemu-img.js';

/** Where the launcher keeps what it makes for a volume. */
export function madeImage(volume: string, extension: 'qcow2' | 'iso' | 'metrics'): string {
  return `${podLayout.disks}/${volume}.${extension}`;
}

/**
 * A copy-on-write layer over an image that stays as it is. One that is there already, from this pod's earlier launcher, is
 * used again when it is over the same image.
 */
export async function overlay(volume: string, base: ImageFile, tool: ImageTool): Promise<DiskImage> {
  const path = madeImage(volume, 'qcow2');
  const backing = isAbsolute(base.path) ? base.path : relative(podLayout.disks, base.path);
  if (!(await isOver(path, backing))) {
    await createAtomically(path, (temporary) =>
      tool.createQcow2(temporary, { backing, format: base.format }),
    );
  }
  return {
    volume,
    file: { path, format: 'qcow2', storage: 'file' },
    backing: base,
    readOnly: false,
    directIO: await supportsDirectIO(path),
  };
}

async function isOver(path: string, backing: string): Promise<boolean> {
  const stats = await look(path);
  if (!stats?.isFile()) return false;
  return backingFileName(await readHead(path, 4096)) === backing;
}
