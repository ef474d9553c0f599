import type { KeyValue } from '../interface.js';
import type { EtcdKeyValue } from './messages.js';

/** Maps our keys to those in etcd, which other programs may share. */
export class Keyspace {
  readonly #root: string;
  readonly #rootLength: number;

  /** `root` has no slash at its end: `/nativirt`. */
  constructor(root: string) {
    if (!/^(\/[^/\0]+)+$/.test(root)) {
      throw new RangeError(`a root is like /nativirt, with no slash at its end: ${JSON.stringify(root)}`);
    }
    this.#root = root;
    this.#rootLength = Buffer.byteLength(root);
  }

  /** What etcd calls `key`. */
  key(key: string): Buffer {
    return Buffer.from(this.#root + key);
  }

  /** A key of the backend itself, outside of all prefixes. */
  own(name: 'format' | 'compaction'): Buffer {
    return Buffer.from(`${this.#root}.${name}`);
  }

  /** A key that lies in the range of `prefix` and is no one's: no key of ours has a NUL. */
  marker(prefix: string): Buffer {
    return Buffer.from(`${this.#root}${prefix}\0`);
  }

  isMarker({ key }: EtcdKeyValue): boolean {
    return key.at(-1) === 0;
  }

  toKeyValue({ key, value, modRevision, createRevision }: EtcdKeyValue): KeyValue {
    return {
      key: key.toString('utf8', this.#rootLength),
      // A copy: the original is a part of the whole message, which it would keep in memory.
      value: Buffer.from(value),
      modRevision,
      createRevision,
    };
  }
}

/** The first key behind all that begin with `prefix`. */
export function rangeEnd(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  const last = end.length - 1;
  end.writeUInt8(end.readUInt8(last) + 1, last);
  return end;
}
