/** Gives the devices of a launcher's container to the user that runs it: the runtime makes them as they are on the node, root's. */
import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isNotExist } from '../files.js';
import { blockDeviceDirectory, launcherUser } from '../../openapi/launcher/pod.js';

/** In the container's /dev, which nobody but root can write to. */
const devices = ['/dev/kvm', '/dev/net/tun', '/dev/vhost-net', '/dev/vhost-vsock'];
const directories = [blockDeviceDirectory, '/dev/vfio', '/dev/bus/usb'];

/** @param root the container's root directory, `/proc/<pid>/root` */
export async function ownDevices(root: string): Promise<void> {
  const found = await Promise.all(directories.map(async (directory) => within(root, directory)));
  for (const device of [...devices, ...found.flat()]) await own(join(root, device));
}

async function within(root: string, directory: string): Promise<string[]> {
  try {
    const entries = await readdir(join(root, directory), { recursive: true });
    return entries.map((name) => join(directory, name));
  } catch (error) {
    if (isNotExist(error)) return [];
    throw error;
  }
}

async function own(path: string): Promise<void> {
  try {
    const stats = await lstat(path);
    if (!stats.isCharacterDevice() && !stats.isBlockDevice()) return;
    if (stats.uid !== launcherUser) await lchown(path, launcherUser, launcherUser);
  } catch (error) {
    if (!isNotExist(error)) throw error;
  }
}
