import type { EmptyDiskSource } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import { quantityBytes } from '../quantity.js';
import type { DiskContext } from './context.js';
import { createAtomically, look, supportsDirectIO } from './files.js';
import type { DiskImage } from './image.js';
import { madeImage } from './overlay.js';

const sector = 512;

/** A blank disk that lives as long as the pod and takes space as the guest writes. */
export async function emptyDisk(
  volume: string,
  { capacity }: EmptyDiskSource,
  { imageTool }: DiskContext,
): Promise<DiskImage> {
  const bytes = quantityBytes(capacity);
  if (bytes === undefined || bytes < sector) {
    throw failure('InvalidField', `spec.volumes (${volume}) emptyDisk.capacity`, `${capacity} is not a size`);
  }
  const path = madeImage(volume, 'qcow2');
  if (!(await look(path))?.isFile()) {
    const rounded = Math.ceil(bytes / sector) * sector;
    await createAtomically(path, (temporary) => imageTool.createQcow2(temporary, { bytes: rounded }));
  }
  return {
    volume,
    file: { path, format: 'qcow2', storage: 'file' },
    backing: undefined,
    readOnly: false,
    directIO: await supportsDirectIO(path),
  };
}
