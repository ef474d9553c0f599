import type { Watcher } from './watcher.js';

/**
 * Lets readers have what is queued for them, each as rarely as it can be. One turn of the event loop gathers what many changes bring. A reader
 * that was woken a moment ago waits that moment out: the first change of a burst is told at once, the rest together, and a write to a
 * socket costs several times what the bytes of one more event do.
 */
export class Waker {
  readonly #soon = new Set<Watcher>();
  readonly #later = new Set<Watcher>();
  readonly #woken = new WeakMap<Watcher, number>();

  /** @param gatherMilliseconds the moment; 0: there is none. */
  constructor(private readonly gatherMilliseconds: number) {}

  wake(watcher: Watcher): void {
    if (this.#later.has(watcher)) return;
    const since = performance.now() - (this.#woken.get(watcher) ?? -Infinity);
    if (since < this.gatherMilliseconds) this.#add(this.#later, watcher);
    else this.#add(this.#soon, watcher);
  }

  #add(set: Set<Watcher>, watcher: Watcher): void {
    if (set.size === 0) {
      const flush = (): void => {
        this.#flush(set);
      };
      if (set === this.#soon) setImmediate(flush);
      else setTimeout(flush, this.gatherMilliseconds);
    }
    set.add(watcher);
  }

  #flush(set: Set<Watcher>): void {
    const watchers = [...set];
    set.clear();
    const now = performance.now();
    for (const each of watchers) {
      this.#woken.set(each, now);
      each.flush();
    }
  }
}
