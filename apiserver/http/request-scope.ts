/** How long one request lives: until it is answered, its client leaves, its time is over, or the server stops. */
import { ApiError } from '../errors/api-error.js';

export class RequestScope {
  /** @param onAbort called once, before anybody else hears of it */
  constructor(private readonly onAbort: (reason: Error) => void = () => undefined) {}

  #controller: AbortController | undefined;
  #reason: Error | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reject: ((reason: Error) => void) | undefined;

  /** Made when somebody asks for it: most reads are answered before anything could abort them. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Why the request was ended, if it was. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  abort(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.clearDeadline();
    this.onAbort(reason);
    this.#reject?.(reason);
    this.#controller?.abort(reason);
  }

  setDeadline(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.abort(new ApiError('Timeout', 'Timeout: request did not complete within the allotted timeout'));
    }, milliseconds);
  }

  clearDeadline(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Settles as `work` does, or rejects with the reason as soon as the scope is aborted. One at a time. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#reason !== undefined) reject(this.#reason);
      work.then(resolve, reject).finally(() => {
        if (this.#reject === reject) this.#reject = undefined;
      });
    });
  }
}

/** The client closed its connection before it had its answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
  constructor() {
    super('the client closed the connection');
  }
}

/** The server is stopping and ends what would run on. */
export class ServerStopping extends Error {
  override readonly name = 'ServerStopping';
  constructor() {
    super('the server is stopping');
  }
}
