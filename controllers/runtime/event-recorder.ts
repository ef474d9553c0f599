/**
 * Tells users what happened to an object, as core/v1 Events. Like events are counted on one object; many alike that
 * differ in their message are combined; an object that keeps shouting is muted. Never fails its caller.
 */
import type { Event as KubernetesEvent, ObjectReference } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Client } from './client.js';
import { systemClock, timestamp, type Clock } from './clock.js';
import { StatusError, isNotFound } from './errors.js';
import { EventCorrelator } from './event-correlator.js';
import { events } from './kinds.js';
import type { Logger } from './logger.js';
import { sharedSignal } from './signals.js';

export type EventType = 'Normal' | 'Warning';

export interface EventRecorder {
  /** Returns at once. `reason` is one CamelCase word, `message` a sentence. */
  event(object: KubernetesObject, type: EventType, reason: string, message: string): void;
}

export interface EventRecorderOptions {
  readonly client: Client;
  /** `virtualmachine-controller`: what `kubectl describe` shows under From. */
  readonly component: string;
  readonly host?: string;
  readonly logger: Logger;
  readonly clock?: Clock;
}

export interface PendingEvent {
  readonly involved: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly at: number;
}

/** More are dropped: events are hints, not records. */
const queueLimit = 10_000;
/** So many are sent at once; those of one object one after another. */
const laneCount = 8;

interface Lane {
  readonly queue: PendingEvent[];
  wake: (() => void) | undefined;
}

export class ClientEventRecorder implements EventRecorder {
  readonly #clock: Clock;
  readonly #correlator: EventCorrelator;
  readonly #lanes: readonly Lane[] = Array.from({ length: laneCount }, () => ({
    queue: [],
    wake: undefined,
  }));
  #waiting = 0;
  #dropped = 0;
  #serial = 0;

  constructor(private readonly options: EventRecorderOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#correlator = new EventCorrelator(this.#clock);
  }

  event(object: KubernetesObject, type: EventType, reason: string, message: string): void {
    if (this.#waiting >= queueLimit) {
      this.#dropped += 1;
      return;
    }
    const lane = this.#laneOf(object.metadata.uid);
    lane?.queue.push({ involved: referenceTo(object), type, reason, message, at: this.#clock.now() });
    this.#waiting += 1;
    lane?.wake?.();
  }

  /** Sends what is recorded, for each object in order, until the signal aborts. */
  async run(stop: AbortSignal): Promise<void> {
    const signal = sharedSignal(stop);
    await Promise.all(this.#lanes.map((lane) => this.#runLane(lane, signal)));
  }

  #laneOf(uid: string): Lane | undefined {
    let sum = 0;
    for (let index = 0; index < uid.length; index++) sum += uid.charCodeAt(index);
    return this.#lanes[sum % laneCount];
  }

  async #runLane(lane: Lane, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = lane.queue.shift();
      if (next === undefined) {
        await this.#wait(lane, signal);
        continue;
      }
      this.#waiting -= 1;
      await this.#send(next, signal);
    }
  }

  async #wait(lane: Lane, signal: AbortSignal): Promise<void> {
    if (this.#dropped > 0) {
      this.options.logger.warn({ dropped: this.#dropped }, 'events came faster than they could be sent');
      this.#dropped = 0;
    }
    await new Promise<void>((resolve) => {
      const done = (): void => {
        lane.wake = undefined;
        signal.removeEventListener('abort', done);
        resolve();
      };
      lane.wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  async #send(pending: PendingEvent, signal: AbortSignal): Promise<void> {
    const decision = this.#correlator.correlate(pending);
    if (decision.kind === 'muted') return;
    try {
      if (decision.kind === 'count' && (await this.#patch(decision, pending, signal))) return;
      const created = await this.options.client.create(
        events,
        this.#newEvent(pending, decision.message),
        signal,
      );
      this.#correlator.created(decision.key, created.metadata.name);
    } catch (error) {
      if (signal.aborted) return;
      this.#report(error, pending);
    }
  }

  /** False: the event that was counted has lapsed. */
  async #patch(
    decision: { name: string; count: number; message: string },
    pending: PendingEvent,
    signal: AbortSignal,
  ): Promise<boolean> {
    const body = { count: decision.count, lastTimestamp: timestamp(pending.at), message: decision.message };
    const key = { namespace: namespaceFor(pending.involved), name: decision.name };
    try {
      await this.options.client.patch(events, key, { type: 'merge', body }, undefined, signal);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  #report(error: unknown, pending: PendingEvent): void {
    const { involved, reason } = pending;
    const fields = { err: error, reason, object: `${involved.kind ?? ''} ${involved.name ?? ''}` };
    // A namespace that is going away takes no new events.
    if (error instanceof StatusError && error.code < 500)
      this.options.logger.debug(fields, 'an event was refused');
    else this.options.logger.warn(fields, 'an event could not be sent');
  }

  #newEvent(
    pending: PendingEvent,
    message: string,
  ): Omit<KubernetesEvent, 'metadata'> & {
    metadata: { namespace: string; name: string };
  } {
    const { involved, type, reason, at } = pending;
    const { component, host } = this.options;
    this.#serial += 1;
    const suffix = `${Math.floor(at).toString(16)}${(this.#serial % 65536).toString(16).padStart(4, '0')}`;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: namespaceFor(involved), name: `${involved.name ?? 'unknown'}.${suffix}` },
      involvedObject: involved,
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: timestamp(at),
      lastTimestamp: timestamp(at),
      source: { component, ...(host === undefined ? {} : { host }) },
      reportingComponent: component,
      reportingInstance: host ?? '',
    };
  }
}

function referenceTo(object: KubernetesObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid,
    resourceVersion,
  };
}

/** Events of cluster-scoped objects live in `default`. */
const namespaceFor = (involved: ObjectReference): string =>
  involved.namespace === undefined || involved.namespace === '' ? 'default' : involved.namespace;
