import type { Watcher } from './watcher.js';

/** A write to a reader's socket takes about an eighth of this: so much of a processor is the most that goes into telling. Milliseconds. */
const shareOfReader = 0.5;
const mostMoments = 10;

/**
 * Lets readers have what is queued for them, each as rarely as it can be. One turn of the event loop gathers what many changes bring. A reader
 * that was woken a moment ago waits that moment out: the first change of a burst is told at once, the rest together, and a write to a
 * socket costs several times what the bytes of one more event do. Readers who are many and are woken together wait for several moments.
 */
export class Waker {
  /** By how long they wait, in milliseconds. */
  readonly #sets = new Map<number, Set<Watcher>>();
  readonly #waiting = new Set<Watcher>();
  readonly #woken = new WeakMap<Watcher, { readonly at: number; readonly among: number }>();

  /** @param gatherMilliseconds the moment; 0: there is none. */
  constructor(private readonly gatherMilliseconds: number) {}

  wake(watcher: Watcher): void {
    if (this.#waiting.has(watcher)) return;
    this.#waiting.add(watcher);
    const delay = this.#delayOf(watcher);
    const set = this.#sets.get(delay);
    if (set !== undefined) {
      set.add(watcher);
      return;
    }
    this.#sets.set(delay, new Set([watcher]));
    const flush = (): void => {
      this.#flush(delay);
    };
    if (delay === 0) setImmediate(flush);
    else setTimeout(flush, delay);
  }

  #delayOf(watcher: Watcher): number {
    const woken = this.#woken.get(watcher);
    if (woken === undefined || this.gatherMilliseconds === 0) return 0;
    const moments = Math.ceil((woken.among * shareOfReader) / this.gatherMilliseconds);
    const delay = this.gatherMilliseconds * Math.min(Math.max(moments, 1), mostMoments);
    return performance.now() - woken.at < delay ? delay : 0;
  }

  #flush(delay: number): void {
    const watchers = this.#sets.get(delay) ?? new Set();
    this.#sets.delete(delay);
    const woken = { at: performance.now(), among: watchers.size };
    for (const each of watchers) {
      this.#waiting.delete(each);
      this.#woken.set(each, woken);
      each.flush();
    }
  }
}
