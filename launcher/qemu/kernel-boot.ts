import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { kernelBootContainer } from '../../openapi/launcher/pod.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { imageFile } from '../disks/image-container.js';
import { look } from '../disks/files.js';
import { failure } from '../errors.js';
import type { KernelFiles } from './model.js';

const volume = 'kernel-boot';

/**
 * The files of `firmware.kernelBoot.container`; undefined where it has none.
 * @throws LauncherError `ImageNotFound`, `ImageRefused`.
 */
export async function prepareKernel({ spec }: VirtualMachineInstance): Promise<KernelFiles | undefined> {
  const container = spec.domain.firmware?.kernelBoot?.container;
  if (!container) return undefined;
  const kernel = container.kernelPath ? await file('kernel', container.kernelPath) : undefined;
  const initrd = container.initrdPath ? await file('initrd', container.initrdPath) : undefined;
  return { kernel, initrd };
}

async function file(name: 'kernel' | 'initrd', wanted: string): Promise<string> {
  const placed = `${podLayout.kernelBoot}/${name}`;
  const path = (await look(placed)) ? placed : ((await imageFile(kernelBootContainer, wanted)) ?? placed);
  const stats = await look(path);
  if (!stats) throw failure('ImageNotFound', volume, path);
  if (!stats.isFile()) throw failure('ImageRefused', volume, `${path} is not a regular file`);
  return path;
}
