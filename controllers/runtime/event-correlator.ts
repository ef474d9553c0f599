/** Decides for each event whether it is new, a repetition to be counted, or noise. Limits are client-go's. */
import type { Clock } from './clock.js';
import type { PendingEvent } from './event-recorder.js';
import { TokenBucket } from './rate-limiter.js';

export type Decision =
  | { readonly kind: 'muted' }
  | { readonly kind: 'create'; readonly key: string; readonly message: string }
  | {
      readonly kind: 'count';
      readonly key: string;
      readonly name: string;
      readonly count: number;
      readonly message: string;
    };

/** So many events that differ only in their message are let through in one interval before they are combined. */
const similarLimit = 10;
const similarInterval = 600_000;
/** Each object may have so many events at once, and one more every 5 minutes. */
const burst = 25;
const perSecond = 1 / 300;
/** How many objects and events are remembered. */
const memory = 4096;

export class EventCorrelator {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #similar = new Map<string, { messages: Set<string>; last: number }>();
  readonly #known = new Map<string, { name: string | undefined; count: number }>();

  constructor(private readonly clock: Clock) {}

  correlate(event: PendingEvent): Decision {
    if (!this.#bucket(event).take()) return { kind: 'muted' };
    const { involved, type, reason } = event;
    const group = JSON.stringify([involved.uid ?? involved.name, type, reason]);
    const combined = this.#isCombined(group, event.message);
    const key = combined ? group : JSON.stringify([group, event.message]);
    const message = combined ? `(combined from similar events): ${event.message}` : event.message;
    const known = this.#known.get(key);
    if (known?.name === undefined) return { kind: 'create', key, message };
    known.count += 1;
    return { kind: 'count', key, name: known.name, count: known.count, message };
  }

  /** The event of `key` now exists under `name`. */
  created(key: string, name: string): void {
    remember(this.#known, key, { name, count: 1 });
  }

  #isCombined(group: string, message: string): boolean {
    const now = this.clock.monotonic();
    const before = this.#similar.get(group);
    const current =
      before === undefined || now - before.last > similarInterval
        ? { messages: new Set<string>(), last: now }
        : before;
    current.last = now;
    current.messages.add(message);
    remember(this.#similar, group, current);
    if (current.messages.size <= similarLimit) return false;
    // Which they were no longer matters, only that there are too many.
    current.messages.delete(message);
    return true;
  }

  #bucket(event: PendingEvent): TokenBucket {
    const id = event.involved.uid ?? `${event.involved.namespace ?? ''}/${event.involved.name ?? ''}`;
    const bucket = this.#buckets.get(id) ?? new TokenBucket(this.clock, perSecond, burst);
    remember(this.#buckets, id, bucket);
    return bucket;
  }
}

/** Keeps what was used last. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= memory) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
