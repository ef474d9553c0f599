import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Volume } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { metricsDisk } from '../downward-metrics/disk.js';
import { failure } from '../errors.js';
import { disksOf } from '../qemu/disks.js';
import { matchesVolume, volumeBlockSize } from './block-size.js';
import { claimDisk, ephemeralDisk, hostDisk } from './claim.js';
import { configDrive, noCloud, type SeedImage } from './cloud-init.js';
import { containerDisk } from './container-disk.js';
import type { DiskContext } from './context.js';
import { emptyDisk } from './empty-disk.js';
import { diskError, supportsDirectIO, writeImage } from './files.js';
import type { DiskImage } from './image.js';
import { isoImage } from './iso9660/image.js';
import { madeImage } from './overlay.js';
import { volumeFiles } from './volume-files.js';

/** Says whose disks the folder holds. */
const ownerFile = `${podLayout.disks}/.owner`;

/**
 * Makes a disk of every volume that is one, in the pod directory (the working directory).
 * @throws LauncherError `ImageNotFound`, `ImageRefused`, `VolumeMissing`, `DiskFull` …, for the first that fails.
 */
export async function prepareDisks(context: DiskContext): Promise<ReadonlyMap<string, DiskImage>> {
  await ownFolder(context.vmi.metadata.uid);
  const images = new Map<string, DiskImage>();
  const disks = new Map(disksOf(context.vmi).map((disk) => [disk.name, disk]));
  for (const volume of context.vmi.spec.volumes ?? []) {
    const disk = disks.get(volume.name);
    if (!disk) continue;
    const image = await prepareVolume(volume, context);
    const shown = matchesVolume(disk) ? { blockSize: await volumeBlockSize(image.file) } : {};
    images.set(volume.name, { ...image, ...shown });
  }
  return images;
}

/** Only a restarted launcher of the same VMI finds its disks again; another's are removed. */
async function ownFolder(uid: string): Promise<void> {
  try {
    await mkdir(podLayout.disks, { recursive: true, mode: 0o700 });
    const owner = await readFile(ownerFile, 'utf8').catch(() => undefined);
    if (owner === uid) return;
    for (const name of await readdir(podLayout.disks)) {
      await rm(`${podLayout.disks}/${name}`, { recursive: true, force: true });
    }
    await writeFile(ownerFile, uid);
  } catch (error) {
    throw diskError(podLayout.disks, error);
  }
}

async function prepareVolume(volume: Volume, context: DiskContext): Promise<DiskImage> {
  const { name } = volume;
  const { vmi } = context;
  if (volume.containerDisk) return await containerDisk(name, context);
  if (volume.emptyDisk) return await emptyDisk(name, volume.emptyDisk, context);
  if (volume.persistentVolumeClaim) {
    return await claimDisk(name, volume.persistentVolumeClaim.readOnly ?? false, context);
  }
  if (volume.dataVolume) return await claimDisk(name, false, context);
  if (volume.ephemeral) return await ephemeralDisk(name, context);
  if (volume.hostDisk) return await hostDisk(name, volume.hostDisk, context);
  if (volume.cloudInitNoCloud) return await seedDisk(name, await noCloud(name, volume.cloudInitNoCloud, vmi));
  if (volume.cloudInitConfigDrive) {
    return await seedDisk(name, await configDrive(name, volume.cloudInitConfigDrive, vmi));
  }
  if (volume.downwardMetrics) return await metricsImage(name);
  const label = filesLabel(volume);
  if (label !== undefined) return await seedDisk(name, { label, files: await volumeFiles(name) });
  throw failure('UnsupportedField', `spec.volumes (${name})`, 'this kind of volume is not implemented');
}

/** The label of a volume that becomes a disk of files. */
function filesLabel(volume: Volume): string | undefined {
  if (volume.secret) return volume.secret.volumeLabel ?? 'cfgdata';
  if (volume.configMap) return volume.configMap.volumeLabel ?? 'cfgdata';
  if (volume.downwardAPI) return volume.downwardAPI.volumeLabel ?? 'cfgdata';
  if (volume.serviceAccount) return 'cfgdata';
  // Where Windows Setup looks for its answer file.
  return volume.sysprep ? 'unattendCD' : undefined;
}

async function metricsImage(volume: string): Promise<DiskImage> {
  const path = madeImage(volume, 'metrics');
  await writeImage(path, metricsDisk('', false));
  return {
    volume,
    file: { path, format: 'raw', storage: 'file' },
    backing: undefined,
    // The guest's own copy, as SATA needs; what it writes is soon gone.
    readOnly: false,
    directIO: await supportsDirectIO(path),
  };
}

async function seedDisk(volume: string, { label, files }: SeedImage): Promise<DiskImage> {
  const path = madeImage(volume, 'iso');
  await writeImage(path, isoImage(label, files));
  return {
    volume,
    file: { path, format: 'raw', storage: 'file' },
    backing: undefined,
    // The guest's own copy: what it writes is gone with the pod.
    readOnly: false,
    directIO: await supportsDirectIO(path),
  };
}
