/** The images of a launcher pod: which containers carry files for the VM, and how those come into the pod directory. */
import { constants } from 'node:fs';
import { copyFile, link, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Container, Pod, Secret } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Client } from '../../controllers/runtime/client.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import { secrets, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { computeContainer, imageContainer, kernelBootContainer } from '../../openapi/launcher/pod.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { errorCode } from '../files.js';
import type { WantedPath } from '../images/extract.js';
import type { PulledImage } from '../images/puller.js';
import type { PodDirectory } from '../pod-directory.js';
import { PodError } from './errors.js';

/** `volume<name>` carries the disk of the containerDisk volume `<name>`. */
const diskContainerPrefix = imageContainer('');
/** The launcher logs the guest's console itself. */
const ignoredContainers = new Set(['guest-console-log']);
const defaultDiskPath: WantedPath = '/disk/';

export interface ContainerImage {
  readonly container: string;
  readonly image: string;
  readonly policy: Container['imagePullPolicy'];
  /** From the path in the image to the file in the pod directory. */
  readonly files: ReadonlyMap<WantedPath, string>;
}

/** The VMI that the pod was made for, by its controller reference. */
export async function ownerOf(
  pod: Pod,
  client: Client,
  signal: AbortSignal,
): Promise<VirtualMachineInstance> {
  const owner = pod.metadata.ownerReferences?.find(
    ({ controller, kind }) => controller === true && kind === 'VirtualMachineInstance',
  );
  const name = owner?.name ?? '';
  try {
    const key = { namespace: pod.metadata.namespace, name };
    const vmi = owner === undefined ? undefined : await client.get(virtualMachineInstances, key, signal);
    if (vmi !== undefined && vmi.metadata.uid === owner?.uid) return vmi;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  throw new PodError('Unsupported', `the pod's VirtualMachineInstance "${name}" does not exist`);
}

export function hasImages(pod: Pod): boolean {
  return (pod.spec?.containers ?? []).some(
    ({ name }) => name === kernelBootContainer || name.startsWith(diskContainerPrefix),
  );
}

function diskPath(volume: string, vmi: VirtualMachineInstance): WantedPath {
  const path = vmi.spec.volumes?.find(({ name }) => name === volume)?.containerDisk?.path;
  return path === undefined || path === '' ? defaultDiskPath : path;
}

function kernelFiles(vmi: VirtualMachineInstance, directory: PodDirectory): Map<WantedPath, string> {
  const { kernelPath, initrdPath } = vmi.spec.domain.firmware?.kernelBoot?.container ?? {};
  const files = new Map<WantedPath, string>();
  if (kernelPath !== undefined) files.set(kernelPath, join(directory.kernelBoot, 'kernel'));
  if (initrdPath !== undefined) files.set(initrdPath, join(directory.kernelBoot, 'initrd'));
  return files;
}

/** Throws `PodError` for containers that this runtime does not know. */
export function containerImages(
  pod: Pod,
  vmi: VirtualMachineInstance | undefined,
  directory: PodDirectory,
): ContainerImage[] {
  return (pod.spec?.containers ?? []).flatMap(({ name, image = '', imagePullPolicy: policy }) => {
    if (name === computeContainer || ignoredContainers.has(name)) return [];
    if (vmi !== undefined && name === kernelBootContainer) {
      return [{ container: name, image, policy, files: kernelFiles(vmi, directory) }];
    }
    if (vmi !== undefined && name.startsWith(diskContainerPrefix)) {
      const volume = name.slice(diskContainerPrefix.length);
      const target = join(directory.volume(volume), podLayout.diskFile);
      return [{ container: name, image, policy, files: new Map([[diskPath(volume, vmi), target]]) }];
    }
    throw new PodError(
      'Unsupported',
      `container "${name}": this node runs launchers only, no other containers`,
    );
  });
}

/** Secrets that are missing are passed over, as in a cluster: the registry's refusal tells if one was needed. */
export async function pullSecrets(pod: Pod, client: Client, signal: AbortSignal): Promise<Secret[]> {
  const { namespace } = pod.metadata;
  const names = (pod.spec?.imagePullSecrets ?? []).flatMap(({ name }) => (name === undefined ? [] : [name]));
  const found = await Promise.all(
    [...new Set(names)].map(async (name) => {
      try {
        return await client.get(secrets, { namespace, name }, signal);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    }),
  );
  return found.filter((secret) => secret !== undefined);
}

/** Puts the pulled files where the launcher looks for them, as hard links to the store, which keeps them read only. */
export async function placeFiles({ files }: ContainerImage, pulled: PulledImage): Promise<void> {
  for (const [path, target] of files) {
    const stored = pulled.files.get(path);
    if (stored === undefined) throw new Error(`the pull of ${path} for ${basename(target)} gave no file`);
    await mkdir(dirname(target), { recursive: true, mode: 0o755 });
    await rm(target, { force: true });
    try {
      await link(stored.path, target);
    } catch (error) {
      // Another file system, or one without hard links.
      if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error;
      await copyFile(stored.path, target, constants.COPYFILE_FICLONE);
    }
  }
}
