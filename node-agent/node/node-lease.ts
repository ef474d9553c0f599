/** Tells every ten seconds that this node's agent lives, by its lease in `kube-node-lease`. */
import type { Client } from '../../controllers/runtime/client.js';
import { microTimestamp, sleep, type Clock } from '../../controllers/runtime/clock.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import { leases } from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';

export const nodeLeaseNamespace = 'kube-node-lease';
const renewInterval = 10_000;
const leaseDurationSeconds = 40;

export interface NodeLeaseOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
}

async function renew({ client, clock, nodeName }: NodeLeaseOptions, signal: AbortSignal): Promise<void> {
  const key = { namespace: nodeLeaseNamespace, name: nodeName };
  const spec = { holderIdentity: nodeName, leaseDurationSeconds, renewTime: microTimestamp(clock.now()) };
  try {
    await client.patch(leases, key, { type: 'merge', body: { spec } }, undefined, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec };
    await client.create(leases, lease, signal);
  }
}

/** Until the signal aborts. Never rejects: a missed renewal is made up by the next. */
export async function keepLease(options: NodeLeaseOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger, nodeName } = options;
  while (!signal.aborted) {
    let delay = renewInterval;
    try {
      await renew(options, signal);
    } catch (error) {
      if (isStopped(signal)) return;
      logger.warn({ err: error, node: nodeName }, 'cannot renew the lease of the node; trying again');
      delay = renewInterval / 10;
    }
    await sleep(clock, delay, signal).catch(() => undefined);
  }
}

function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
