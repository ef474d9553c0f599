import type { Clock } from '../controllers/runtime/clock.js';
import type { Informer } from '../controllers/runtime/informer.js';
import type { KubernetesObject } from '../openapi/meta.js';

/** Resolves with true as soon as all objects of the informer are so; with false when they are not after so many milliseconds. */
export function untilAll<T extends KubernetesObject>(
  informer: Informer<T>,
  isSo: (object: T) => boolean,
  clock: Clock,
  milliseconds: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (all: boolean): void => {
      cancel();
      remove();
      resolve(all);
    };
    const look = (): void => {
      if (informer.list().every(isSo)) end(true);
    };
    const cancel = clock.timer(milliseconds, () => end(false));
    const remove = informer.addHandler({ update: look, delete: look });
    look();
  });
}
