/** Keeps an eye on the KubeVirt object, whose configuration every write is admitted under. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { decodeEntry } from '../../apiserver/registry/endpoint.js';
import type { Registry } from '../../apiserver/registry/registry.js';
import type { Entry } from '../../storage/interface.js';
import type { KubeVirt } from '../../openapi/generated/types/kubevirt_v1.js';

const retryMilliseconds = 1000;

/**
 * Calls `update` with the oldest KubeVirt object (there should be one only), or undefined, whenever that changes. Resolves when
 * `signal` aborts.
 */
export async function followKubeVirt(
  registry: Registry,
  logger: Logger,
  signal: AbortSignal,
  update: (kubevirt: KubeVirt | undefined) => void,
): Promise<void> {
  const endpoint = registry.endpoint('kubevirt.io', 'kubevirts');
  if (endpoint === undefined) return;
  // The endpoint says which kind its entries are.
  const decodeKubeVirt = (entry: Entry): KubeVirt => decodeEntry(endpoint.resource, 'v1', entry) as KubeVirt;
  while (!signal.aborted) {
    const objects = new Map<string, KubeVirt>();
    const watch = endpoint.store.watch({
      from: { kind: 'initial', bookmark: true },
      bookmarks: false,
      signal,
    });
    try {
      for (;;) {
        const events = await watch.next();
        if (events === undefined) break;
        for (const event of events) {
          if (event.type === 'BOOKMARK') continue;
          if (event.type === 'DELETED') objects.delete(event.entry.key);
          else objects.set(event.entry.key, decodeKubeVirt(event.entry));
        }
        update(oldest([...objects.values()]));
      }
    } catch (error) {
      logger.warn({ err: error }, 'the KubeVirt configuration can not be followed: trying again');
      await delay(retryMilliseconds, undefined, { signal }).catch(() => undefined);
    } finally {
      watch.close();
    }
  }
}

function oldest(objects: readonly KubeVirt[]): KubeVirt | undefined {
  return [...objects].sort((a, b) =>
    a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1,
  )[0];
}
