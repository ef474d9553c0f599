/** Standalone's storage: a directory for each claim of class `standard`. */
import type { ControllerDependencies } from '../dependencies.js';
import type { Runnable } from '../runtime/controller.js';
import { isAlreadyExists } from '../runtime/errors.js';
import { storageClasses } from '../runtime/kinds.js';
import { Backoff } from '../runtime/backoff.js';
import { sleep } from '../runtime/clock.js';
import { ClaimController } from './claim-controller.js';
import { createLocalDirectories, type LocalDirectories } from './local-directories.js';
import { standardStorageClass } from './storage-class.js';
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
      await Promise.all([
        ensureStorageClass(deps, signal),
        claims.controller.run(signal),
        volumes.controller.run(signal),
      ]);
    },
  };
}

async function ensureStorageClass(deps: ControllerDependencies, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff({ minimum: 200, maximum: 30_000, random: deps.random });
  try {
    for (;;) {
      try {
        await deps.client.create(storageClasses, standardStorageClass, signal);
        return;
      } catch (error) {
        if (isAlreadyExists(error)) return;
        signal.throwIfAborted();
        deps.logger.warn({ err: error }, 'could not create the storage class standard; trying again');
      }
      await sleep(deps.clock, backoff.next(), signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
