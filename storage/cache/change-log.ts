import type { Entry, Revision } from '../interface.js';
import type { Change } from './change.js';

export interface ChangeLogLimits {
  readonly changes: number;
  /** Bytes of the objects that the log holds on to. */
  readonly bytes: number;
}

/** The newest changes of one resource: for watches that resume, and for pages of a state that was just read. */
export class ChangeLog {
  readonly #limits: ChangeLogLimits;
  #changes: Change[] = [];
  /** Where the oldest one is: those before are dropped now and then. */
  #first = 0;
  #bytes = 0;
  #base: Revision;

  constructor(limits: ChangeLogLimits, base: Revision) {
    this.#limits = limits;
    this.#base = base;
  }

  /** Every change behind this revision is here. */
  get base(): Revision {
    return this.#base;
  }

  push(change: Change): void {
    this.#changes.push(change);
    this.#bytes += weight(change);
    while (this.#changes.length - this.#first > this.#limits.changes || this.#bytes > this.#limits.bytes) {
      const oldest = this.#changes[this.#first];
      if (oldest === undefined) break;
      this.#first++;
      this.#bytes -= weight(oldest);
      this.#base = oldest.revision;
    }
    if (this.#first * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The changes behind `revision`, which must not be before `base`. */
  since(revision: Revision): readonly Change[] {
    let low = this.#first;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const change = this.#changes[middle];
      if (change !== undefined && change.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }

  /** What the keys that changed behind `revision` held then. */
  before(revision: Revision): Map<string, Entry | undefined> {
    const then = new Map<string, Entry | undefined>();
    for (const change of this.since(revision).toReversed()) {
      if (change.entry !== undefined) then.set(change.entry.key, change.previous);
    }
    return then;
  }
}

const weight = (change: Change): number => (change.previous ?? change.current)?.bytes.length ?? 0;
