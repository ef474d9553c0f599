/** The end of a pod that has ended: what this node keeps of it, then the pod itself. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { Backoff } from '../../controllers/runtime/backoff.js';
import type { Client } from '../../controllers/runtime/client.js';
import { sleep, type Clock } from '../../controllers/runtime/clock.js';
import { isConflict, isNotFound } from '../../controllers/runtime/errors.js';
import { pods } from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import type { PodDirectory } from '../pod-directory.js';
import type { SandboxNetwork } from './sandbox-network.js';

export interface PodRemovalOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly directory: PodDirectory;
  readonly network: SandboxNetwork;
  /** The API has no such pod any more. */
  readonly vanished: () => boolean;
}

/** Until it is done, or the signal aborts. */
export async function removePod(
  { metadata: { namespace, name, uid } }: Pod,
  { client, clock, logger, random, directory, network, vanished }: PodRemovalOptions,
  signal: AbortSignal,
): Promise<void> {
  await directory.killProcesses();
  const isStopped = (): boolean => signal.aborted;
  const backoff = new Backoff({ minimum: 100, maximum: 10_000, random });
  while (!isStopped()) {
    try {
      await network.detach();
      await directory.remove();
      if (vanished()) return;
      const preconditions = { uid };
      await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions }, signal);
      return;
    } catch (error) {
      if (isStopped() || isNotFound(error) || isConflict(error)) return;
      logger.warn({ err: error, pod: name, namespace }, 'cannot remove a pod that has ended; trying again');
      await sleep(clock, backoff.next(), signal).catch(() => undefined);
    }
  }
}
