/** Standalone's storage: a directory for each claim of class `standard`. */
import type { ControllerDependencies } from '../dependencies.js';
import type { Runnable } from '../runtime/controller.js';
import { ClaimController } from './claim-controller.js';
import { createLocalDirectories, type LocalDirectories } from './local-directories.js';
import { VolumeController } from './volume-controller.js';

/** `directory`: absolute, on the machine that this process and the node agents share. */
export function createPersistentVolumeController(
  deps: ControllerDependencies,
  directory: string | LocalDirectories,
): Runnable {
  const directories = typeof directory === 'string' ? createLocalDirectories(directory) : directory;
  const claims = new ClaimController(deps, directories);
  const volumes = new VolumeController(deps, directories);
  return {
    run: async (signal) => {
      await Promise.all([claims.controller.run(signal), volumes.controller.run(signal)]);
    },
  };
}
