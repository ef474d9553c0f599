/**
 * Lines of watch events, shared by all watchers that get the same event in the same version. Only the newest are kept, up to
 * a number of bytes: watchers are served within moments of each other.
 */
import type { Entry, WatchEvent } from '../../storage/interface.js';

type ObjectEvent = Exclude<WatchEvent, { type: 'BOOKMARK' }>;

interface Line {
  readonly type: ObjectEvent['type'];
  readonly apiVersion: string;
  readonly chunk: Buffer;
}

const defaultBudget = 8 * 1024 * 1024;

export class SharedEvents {
  /** In the order in which they were first asked for. */
  readonly #lines = new Map<Entry, Line[]>();
  #bytes = 0;

  constructor(private readonly budgetBytes = defaultBudget) {}

  /** The line for this event as of `apiVersion`, made by `make` unless another watcher got it already. */
  line(event: ObjectEvent, apiVersion: string, make: () => Buffer): Buffer {
    let known = this.#lines.get(event.entry);
    const found = known?.find((line) => line.type === event.type && line.apiVersion === apiVersion);
    if (found !== undefined) return found.chunk;
    if (known === undefined) {
      known = [];
      this.#lines.set(event.entry, known);
    }
    const chunk = make();
    known.push({ type: event.type, apiVersion, chunk });
    this.#bytes += chunk.length;
    this.#evict();
    return chunk;
  }

  #evict(): void {
    for (const [entry, lines] of this.#lines) {
      if (this.#bytes <= this.budgetBytes) return;
      this.#lines.delete(entry);
      for (const { chunk } of lines) this.#bytes -= chunk.length;
    }
  }
}
