import type { Client, Kind, ObjectKey } from '../../controllers/runtime/client.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';

/** Resolves with the object as soon as it is as `accept` says, and undefined when `accept` takes its absence. */
export async function eventually<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
  accept: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const logger = new SilentLogger();
  const informer = new SharedInformer<T>({ client, kind, logger });
  const stop = new AbortController();
  const found = new Promise<T | undefined>((resolve) => {
    const look = (): void => {
      const object = informer.get(key);
      if (informer.hasSynced && accept(object)) resolve(object);
    };
    informer.addHandler({ add: look, update: look, delete: look });
    informer.synced(stop.signal).then(look, () => undefined);
  });
  const running = informer.run(stop.signal);
  try {
    return await found;
  } finally {
    stop.abort();
    await running;
  }
}
