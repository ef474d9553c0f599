/**
 * One of several processes leads, by holding a Lease.
 *
 * Safety, whatever the processes' wall clocks show: a leader stops `renewDeadline` after it *sent* its last successful
 * write; a rival takes the lease only `leaseDuration` after it *saw* the last change, by its own monotonic clock. As
 * `renewDeadline` is shorter, and a change can not be seen before it was sent, the two never overlap. A process that was
 * paused for so long may be asked to write before its timers run: the client that its work is given looks at the clock itself.
 */
import type { Lease, LeaseSpec } from '../../openapi/generated/types/coordination_v1.js';
import type { Client, ObjectKey } from './client.js';
import { microTimestamp, sleep, systemClock, type Clock } from './clock.js';
import { isNotFound } from './errors.js';
import { gatedWrites } from './gated-client.js';
import { leases } from './kinds.js';
import type { Logger } from './logger.js';

export interface LeaderElectionOptions {
  readonly client: Client;
  readonly logger: Logger;
  readonly lease: Required<ObjectKey> & { readonly namespace: string };
  /** Unique among the candidates: host name and a UUID. */
  readonly identity: string;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Milliseconds; client-go's 15 s, 10 s and 2 s if absent. */
  readonly leaseDuration?: number;
  readonly renewDeadline?: number;
  readonly retryPeriod?: number;
}

/** The lease as we last saw it, and when that state was new to us. */
interface Observed {
  readonly lease: Lease;
  readonly fingerprint: string;
  readonly at: number;
}

/** `signal` aborts when leadership is lost or nobody wants it any more; from then on `client` writes nothing, nor when that ought to be. */
export type LeadersWork = (signal: AbortSignal, client: Client) => Promise<void>;

/**
 * Waits to lead, then calls `lead`. Resolves after
 * `lead` has ended; `lost` tells whether leadership was lost (the process should then end, or call again).
 */
export async function runWithLeadership(
  options: LeaderElectionOptions,
  lead: LeadersWork,
  signal: AbortSignal,
): Promise<'lost' | 'ended'> {
  const elector = new LeaderElector(options);
  try {
    const sent = await elector.acquire(signal);
    return await elector.lead(sent, lead, signal);
  } catch (error) {
    if (signal.aborted) return 'ended';
    throw error;
  }
}

class LeaderElector {
  readonly #clock: Clock;
  readonly #leaseDuration: number;
  readonly #renewDeadline: number;
  readonly #retryPeriod: number;
  readonly #logger: Logger;
  #observed: Observed | undefined;
  /** Monotonic. */
  #leadsUntil = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: LeaderElectionOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#leaseDuration = options.leaseDuration ?? 15_000;
    this.#renewDeadline = options.renewDeadline ?? 10_000;
    this.#retryPeriod = options.retryPeriod ?? 2000;
    if (this.#leaseDuration <= this.#renewDeadline || this.#renewDeadline <= this.#retryPeriod * 1.2)
      throw new RangeError('leaseDuration must exceed renewDeadline, and that 1.2 times retryPeriod');
    this.#logger = options.logger.child({ lease: options.lease.name, identity: options.identity });
  }

  /** Resolves with the moment at which the write that made us leader was sent. */
  async acquire(signal: AbortSignal): Promise<number> {
    const random = this.options.random ?? Math.random;
    for (;;) {
      const sent = this.#clock.monotonic();
      const acquired = await this.#attempt(signal);
      // An answer that came too late gives no time to lead: the next attempt renews what we hold.
      if (acquired && this.#clock.monotonic() < sent + this.#renewDeadline) return sent;
      await sleep(this.#clock, this.#retryPeriod * (1 + 0.2 * random()), signal);
    }
  }

  async lead(acquired: number, work: LeadersWork, signal: AbortSignal): Promise<'lost' | 'ended'> {
    this.#logger.info({}, 'became the leader');
    const leadership = new AbortController();
    const both = AbortSignal.any([signal, leadership.signal]);
    this.#leadsUntil = acquired + this.#renewDeadline;
    const renewing = this.#renew(leadership, both);
    const client = gatedWrites(this.options.client, () => {
      if (both.aborted || this.#clock.monotonic() >= this.#leadsUntil) throw new LeadershipLost();
    });
    try {
      await work(both, client);
    } finally {
      const lost = leadership.signal.aborted;
      leadership.abort(new LeadershipEnded());
      await renewing;
      if (!lost) await this.#release();
    }
    return leadership.signal.reason instanceof LeadershipLost ? 'lost' : 'ended';
  }

  /** Keeps the lease until `signal` aborts; aborts `leadership` in time when that fails. */
  async #renew(leadership: AbortController, signal: AbortSignal): Promise<void> {
    for (;;) {
      const remaining = this.#leadsUntil - this.#clock.monotonic();
      const cancel = this.#clock.timer(remaining, () => {
        this.#logger.error({}, 'could not renew the lease in time; no longer the leader');
        leadership.abort(new LeadershipLost());
      });
      try {
        await sleep(this.#clock, this.#retryPeriod, signal);
        const sent = this.#clock.monotonic();
        if (await this.#attempt(signal)) this.#leadsUntil = sent + this.#renewDeadline;
        else if (this.#heldByOther()) leadership.abort(new LeadershipLost());
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      } finally {
        cancel();
      }
    }
  }

  #heldByOther(): boolean {
    const holder = this.#observed?.lease.spec?.holderIdentity ?? '';
    return holder !== '' && holder !== this.options.identity;
  }

  /** Takes or renews the lease. False: somebody else has it, or it could not be written. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#tryAcquireOrRenew(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#logger.debug({ err: error }, 'could not take or renew the lease');
      return false;
    }
  }

  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, identity, lease: key } = this.options;
    const current = await client.get(leases, key, signal).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (current === undefined) {
      const spec = this.#spec(undefined);
      const metadata = { namespace: key.namespace, name: key.name };
      this.#observe(
        await client.create(
          leases,
          { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec },
          signal,
        ),
      );
      return true;
    }
    const observed = this.#observe(current);
    const holder = current.spec?.holderIdentity ?? '';
    if (
      holder !== '' &&
      holder !== identity &&
      this.#clock.monotonic() < observed.at + this.#durationOf(current)
    )
      return false;
    this.#observe(
      await client.update(leases, { ...current, spec: this.#spec(current.spec) }, undefined, signal),
    );
    return true;
  }

  /** A holder may have been started with a longer duration than ours. */
  #durationOf(lease: Lease): number {
    return Math.max(this.#leaseDuration, (lease.spec?.leaseDurationSeconds ?? 0) * 1000);
  }

  #observe(lease: Lease): Observed {
    const fingerprint = `${lease.metadata.uid}/${lease.metadata.resourceVersion}`;
    if (this.#observed?.fingerprint === fingerprint) return this.#observed;
    this.#observed = { lease, fingerprint, at: this.#clock.monotonic() };
    return this.#observed;
  }

  #spec(before: LeaseSpec | undefined): LeaseSpec {
    const now = microTimestamp(this.#clock.now());
    const held = before?.holderIdentity === this.options.identity;
    return {
      ...before,
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.ceil(this.#leaseDuration / 1000),
      acquireTime: held ? (before.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (held || before === undefined ? 0 : 1),
    };
  }

  /** Gives the lease up at once, so that the next leader need not wait for it to lapse. */
  async #release(): Promise<void> {
    const held = this.#observed?.lease;
    if (held?.spec?.holderIdentity !== this.options.identity) return;
    const spec = {
      ...held.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: microTimestamp(this.#clock.now()),
    };
    try {
      await this.options.client.update(leases, { ...held, spec }, undefined, AbortSignal.timeout(5000));
    } catch (error) {
      this.#logger.debug({ err: error }, 'could not release the lease; it will lapse');
    }
  }
}

/** Why the signal given to the leader's work aborted. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
  constructor() {
    super('this process no longer holds the lease');
  }
}

class LeadershipEnded extends Error {
  override readonly name = 'LeadershipEnded';
}
