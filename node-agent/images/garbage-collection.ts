/** Keeps the disk from filling with images that nobody uses. */
import { statfs } from 'node:fs/promises';
import { sleep, type Clock } from '../../controllers/runtime/clock.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import type { ImageStore } from './store.js';

export interface GarbageCollectionOptions {
  readonly store: ImageStore;
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The kubelet's numbers: begins above the high share of the disk in use, ends below the low one. */
const highShare = 0.85;
const lowShare = 0.8;
const interval = 5 * 60 * 1000;

/** Bytes to free; 0 if there is room enough. */
export function bytesToFree(size: number, available: number): number {
  const used = size - available;
  return used > size * highShare ? Math.ceil(used - size * lowShare) : 0;
}

/** Until the signal aborts. */
export async function collectImages(options: GarbageCollectionOptions, signal: AbortSignal): Promise<void> {
  const { store, directory, clock, logger } = options;
  while (!signal.aborted) {
    await sleep(clock, interval, signal).catch(() => undefined);
    if (isStopped(signal)) return;
    try {
      const { blocks, bavail, bsize } = await statfs(directory);
      const bytes = bytesToFree(blocks * bsize, bavail * bsize);
      if (bytes === 0) continue;
      const { images, freedBytes } = await store.collectGarbage(bytes);
      logger.info({ images: images.length, freedBytes, wanted: bytes }, 'removed unused images');
    } catch (error) {
      logger.error({ err: error }, 'cannot remove unused images');
    }
  }
}

function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
