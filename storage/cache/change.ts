import type { Entry, Revision, Selection, WatchEvent } from '../interface.js';

/** One change of one object. Its events are made once and shared by all watchers. */
export class Change {
  readonly revision: Revision;
  readonly previous: Entry | undefined;
  /** `undefined`: the object was deleted. */
  readonly current: Entry | undefined;
  #added: WatchEvent | undefined;
  #modified: WatchEvent | undefined;
  #deleted: { readonly type: 'DELETED'; readonly entry: Entry } | undefined;

  constructor(revision: Revision, previous: Entry | undefined, current: Entry | undefined) {
    this.revision = revision;
    this.previous = previous;
    this.current = current;
  }

  /** The object as it is now or, if it is deleted, as it was. */
  get entry(): Entry | undefined {
    return this.current ?? this.previous;
  }

  /** What a watcher with this selection is told, if anything. */
  eventFor(matches: Selection | undefined): WatchEvent | undefined {
    const { previous, current } = this;
    const was = previous !== undefined && (matches === undefined || matches(previous.attributes));
    if (current !== undefined && (matches === undefined || matches(current.attributes))) {
      return was
        ? (this.#modified ??= { type: 'MODIFIED', entry: current })
        : (this.#added ??= { type: 'ADDED', entry: current });
    }
    return was ? this.deletion(previous) : undefined;
  }

  /** The last state, at the revision of this change. */
  deletion(last: Entry): { readonly type: 'DELETED'; readonly entry: Entry } {
    return (this.#deleted ??= { type: 'DELETED', entry: { ...last, revision: this.revision } });
  }
}
