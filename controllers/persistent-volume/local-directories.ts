/** The directories behind standalone's volumes: `<root>/<volume name>`. */
import { mkdir, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

export interface LocalDirectories {
  pathOf(volume: string): string;
  /** Idempotent. */
  create(volume: string): Promise<void>;
  /** With everything in it. Idempotent. */
  remove(volume: string): Promise<void>;
}

/** Names of volumes become names of directories, and the directories are removed whole. */
const volumeName = /^pvc-[0-9a-f-]{36}$/;

export function createLocalDirectories(root: string): LocalDirectories {
  if (!isAbsolute(root)) throw new TypeError(`the directory of volumes must be absolute, not ${root}`);
  const pathOf = (volume: string): string => {
    if (!volumeName.test(volume)) throw new TypeError(`${volume} is not the name of a provisioned volume`);
    return join(root, volume);
  };
  return {
    pathOf,
    create: async (volume) => {
      // Launchers of another user pass through it to their own.
      await mkdir(root, { recursive: true, mode: 0o711 });
      await mkdir(pathOf(volume), { recursive: true, mode: 0o770 });
    },
    remove: async (volume) => {
      await rm(pathOf(volume), { recursive: true, force: true });
    },
  };
}
