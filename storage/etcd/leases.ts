import { randomInt } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { EtcdConnection } from './connection.js';

/** Keys written within this share of their lifetime of each other may end together. */
const share = 0.05;
const longestShare = 60_000;
const keysOfLease = 1000;

interface Lease {
  readonly id: Promise<number>;
  readonly until: number;
  keys: number;
}

/** Leases are dear to etcd, so keys with like lifetimes share one: it is granted for a little longer. */
export class Leases {
  readonly #connection: EtcdConnection;
  readonly #clock: Clock;
  readonly #current = new Map<number, Lease>();

  constructor(connection: EtcdConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** A lease that ends in `ttlSeconds`, or a little later. */
  async grant(ttlSeconds: number): Promise<number> {
    const now = this.#clock.now();
    const current = this.#current.get(ttlSeconds);
    if (current !== undefined && current.until > now && current.keys < keysOfLease) {
      current.keys++;
      return await current.id;
    }
    const reuse = Math.min(ttlSeconds * 1000 * share, longestShare);
    const id = this.#grant(Math.ceil(ttlSeconds + reuse / 1000));
    const lease = { id, until: now + reuse, keys: 1 };
    this.#current.set(ttlSeconds, lease);
    try {
      return await id;
    } catch (error) {
      if (this.#current.get(ttlSeconds) === lease) this.#current.delete(ttlSeconds);
      throw error;
    }
  }

  async #grant(ttl: number): Promise<number> {
    // etcd's own ids are too long for a JavaScript number.
    const { id } = await this.#connection.call('LeaseGrant', { ttl, id: randomInt(1, 2 ** 48 - 1) });
    return id;
  }
}
