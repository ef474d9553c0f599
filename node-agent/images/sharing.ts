/** Callers of one key share one run; the run is aborted when the last caller has gone. */
export class SharedRuns<T> {
  private readonly runs = new Map<
    string,
    { promise: Promise<T>; controller: AbortController; waiting: number }
  >();

  async run(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    let run = this.runs.get(key);
    if (run === undefined) {
      const controller = new AbortController();
      const promise = start(controller.signal).finally(() => this.forget(key, controller));
      run = { promise, controller, waiting: 0 };
      this.runs.set(key, run);
    }
    const { promise, controller } = run;
    run.waiting++;
    let leave: (() => void) | undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([promise, left]);
    } finally {
      if (leave !== undefined) signal.removeEventListener('abort', leave);
      run.waiting--;
      if (run.waiting === 0) {
        this.forget(key, controller);
        controller.abort();
      }
    }
  }

  private forget(key: string, controller: AbortController): void {
    if (this.runs.get(key)?.controller === controller) this.runs.delete(key);
  }
}

/** At most `limit` holders at a time, first come, first served. */
export class Semaphore {
  private readonly queue: (() => void)[] = [];

  constructor(private free: number) {}

  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.acquire(signal);
    try {
      return await work();
    } finally {
      const next = this.queue.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }

  private acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.queue.splice(this.queue.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      this.queue.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
