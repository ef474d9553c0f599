/** How many requests are served at once. Above that, clients are told to come back, which costs next to nothing. */
import { ApiError } from '../errors/api-error.js';

export interface InFlightLimits {
  /** kube-apiserver's `--max-requests-inflight`. */
  readonly reads: number;
  /** kube-apiserver's `--max-mutating-requests-inflight`. */
  readonly writes: number;
}

export type RequestKind = 'readOnly' | 'mutating';

export class InFlightLimiter {
  readonly #limits: Readonly<Record<RequestKind, number>>;
  readonly #current: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };

  constructor(
    limits: InFlightLimits,
    private readonly onChange: (kind: RequestKind, current: number) => void,
  ) {
    this.#limits = { readOnly: limits.reads, mutating: limits.writes };
  }

  /**
   * Pairs with one `release`.
   * @param exempt counted, but never refused
   * @throws ApiError TooManyRequests, and then nothing was taken
   */
  acquire(kind: RequestKind, exempt: boolean): void {
    if (this.#current[kind] >= this.#limits[kind] && !exempt) {
      throw new ApiError('TooManyRequests', 'Too many requests, please try again later.', {
        retryAfterSeconds: 1,
      });
    }
    this.#change(kind, 1);
  }

  release(kind: RequestKind): void {
    this.#change(kind, -1);
  }

  #change(kind: RequestKind, by: number): void {
    this.#current[kind] += by;
    this.onChange(kind, this.#current[kind]);
  }
}
