/** Answers of the cluster's reviews, kept for seconds: one question at a time, however many requests wait for it. */

export interface ReviewCacheOptions {
  /** Answers that are kept; the oldest goes first. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Lasting<V> {
  readonly value: V;
  /** Milliseconds; 0: not kept. */
  readonly ttl: number;
}

export class ReviewCache<V> {
  readonly #answers = new Map<string, { readonly value: V; readonly until: number }>();
  readonly #asking = new Map<string, Promise<V>>();

  constructor(private readonly options: ReviewCacheOptions) {}

  /** Synchronous where the answer is known. A question that fails is not kept: the next request asks again. */
  get(key: string, ask: () => Promise<Lasting<V>>): V | Promise<V> {
    const known = this.#answers.get(key);
    if (known !== undefined) {
      if (this.options.now() < known.until) return known.value;
      this.#answers.delete(key);
    }
    const asking = this.#asking.get(key);
    if (asking !== undefined) return asking;
    const asked = ask().then(({ value, ttl }) => {
      if (ttl > 0) this.#keep(key, value, ttl);
      return value;
    });
    this.#asking.set(key, asked);
    const settle = (): void => {
      this.#asking.delete(key);
    };
    asked.then(settle, settle);
    return asked;
  }

  #keep(key: string, value: V, ttl: number): void {
    this.#answers.set(key, { value, until: this.options.now() + ttl });
    if (this.#answers.size <= this.options.size) return;
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined) this.#answers.delete(oldest);
  }
}
