import type { Client } from './client.js';
import type { Clock } from './clock.js';
import { TokenBucket } from './rate-limiter.js';

/** Requests a second in the long run, and how many may go at once. */
export interface RequestLimit {
  readonly qps: number;
  readonly burst: number;
}

/** How fast a process sends its requests. They go at once until there is a limit; then in the order in which they came. */
export class RequestRate {
  #limit: RequestLimit | undefined;
  #bucket: TokenBucket | undefined;
  #waiting: (() => void)[] = [];
  #cancel: () => void = () => undefined;

  constructor(private readonly clock: Clock) {}

  /** A limit by which nothing could ever be sent is none. */
  change(limit: RequestLimit | undefined): void {
    const usable = limit !== undefined && limit.qps > 0 && limit.burst >= 1 ? limit : undefined;
    if (usable?.qps === this.#limit?.qps && usable?.burst === this.#limit?.burst) return;
    this.#limit = usable;
    this.#bucket = usable && new TokenBucket(this.clock, usable.qps, usable.burst);
    this.#release();
  }

  /** Resolves when one more request may be sent; rejects with the signal's reason. */
  async pass(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#bucket === undefined) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== go);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(go);
      this.#release();
    });
    signal?.throwIfAborted();
  }

  #release(): void {
    this.#cancel();
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#bucket?.take() === false) {
        this.#cancel = this.clock.timer(this.#bucket.nextIn, () => this.#release());
        return;
      }
      this.#waiting.shift();
      next();
    }
  }
}

/** The client, each of whose requests waits for its turn. A watch is one request. */
export function rateLimited(client: Client, rate: RequestRate): Client {
  const inTurn = async <T>(signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> => {
    await rate.pass(signal);
    return send();
  };
  return {
    get: (kind, key, signal) => inTurn(signal, () => client.get(kind, key, signal)),
    list: (kind, params, signal) => inTurn(signal, () => client.list(kind, params, signal)),
    async *watch(kind, params, signal) {
      await rate.pass(signal);
      yield* client.watch(kind, params, signal);
    },
    create: (kind, object, signal) => inTurn(signal, () => client.create(kind, object, signal)),
    update: (kind, object, subresource, signal) =>
      inTurn(signal, () => client.update(kind, object, subresource, signal)),
    patch: (kind, key, patch, subresource, signal) =>
      inTurn(signal, () => client.patch(kind, key, patch, subresource, signal)),
    delete: (kind, key, params, signal) => inTurn(signal, () => client.delete(kind, key, params, signal)),
    post: (kind, key, method, subresource, body, signal) =>
      inTurn(signal, () => client.post(kind, key, method, subresource, body, signal)),
  };
}
