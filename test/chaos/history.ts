/** What clients asked for and were told, in the order in which they learned it. */
import type { ObjectMeta } from '../../openapi/meta.js';
import type { Revision } from '../../storage/interface.js';

/** One version of an object. Each write leaves its own mark: `operation` is that of the last. */
export interface Version {
  readonly name: string;
  readonly uid: string;
  readonly revision: Revision;
  /** By writer, the operation that it did last to this object. */
  readonly marks: Readonly<Record<string, string>>;
}

export interface WriteRecord {
  readonly verb: 'create' | 'update' | 'patch' | 'delete';
  readonly writer: string;
  /** Of the whole run, unique. */
  readonly operation: string;
  readonly name: string;
  /** What the object had to be, if the request said so. */
  readonly expected?: { readonly uid: string; readonly revision?: Revision };
  /** The newest revision that any client knew of when the request was sent. */
  readonly known: Revision;
  /** `unknown`: no answer came, or one that promises nothing. */
  outcome: 'done' | 'refused' | 'unknown';
  /** Of a write that is done, except for a deletion. */
  version?: Version;
}

export interface ReadRecord {
  readonly known: Revision;
  readonly replica: number;
  readonly result:
    | { readonly kind: 'list'; readonly revision: Revision; readonly versions: readonly Version[] }
    | { readonly kind: 'get'; readonly name: string; readonly version: Version | undefined };
}

export interface WatchedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly revision: Revision;
  readonly name: string;
}

/** What one watcher was told since it listed, over however many connections and servers. */
export interface WatchRecord {
  readonly watcher: string;
  readonly from: Revision;
  readonly events: WatchedEvent[];
}

export class History {
  readonly writes: WriteRecord[] = [];
  readonly reads: ReadRecord[] = [];
  readonly watches: WatchRecord[] = [];
  #known: Revision = 0;

  /** The newest revision that any client has heard of. */
  get known(): Revision {
    return this.#known;
  }

  learn(revision: Revision): void {
    this.#known = Math.max(this.#known, revision);
  }
}

/** Annotations of this prefix, followed by the writer's name, are marks. */
export const markPrefix = 'chaos.nativirt.io/';

export function versionOf({ name, uid, annotations = {} }: ObjectMeta, revision: Revision): Version {
  const marks = Object.entries(annotations)
    .filter(([key]) => key.startsWith(markPrefix))
    .map(([key, operation]) => [key.slice(markPrefix.length), operation]);
  return { name, uid, revision, marks: Object.fromEntries(marks) as Record<string, string> };
}
