/**
 * How data lies in LevelDB. All keys are text; a revision is 14 hexadecimal digits, so that keys sort by number.
 *
 *   mformat                      what this directory is: JSON `{ "name", "format" }`
 *   mrevision                    the newest revision
 *   mcompacted                   history before this revision is gone for readers
 *   mpruned                      superseded records up to this revision are deleted (it follows `mcompacted`)
 *   l<revision>                  the log: one record a write, with its value; current values stay here too
 *   i<key> NUL <revision>        the index: which revisions a key has. Value: empty if it was deleted then, else its
 *                                createRevision, followed by its expiry if it has one
 *   t<expiry><revision>          keys with a lifetime: the value is the key; expiry in milliseconds since 1970
 *
 * A value is so written once, at the end of the log, and moves only when LevelDB compacts.
 */
import { UnavailableError } from '../errors.js';
import type { Revision } from '../interface.js';
import type { Change } from '../watch-hub.js';

export const formatName = 'nativirt';
export const formatVersion = 1;

export const metaKeys = {
  format: 'mformat',
  revision: 'mrevision',
  compacted: 'mcompacted',
  pruned: 'mpruned',
} as const;

/** Behind every key that begins with one of the letters. */
export const endOf = { log: 'm', index: 'j', expiry: 'u' } as const;

const digits = (revision: number): string => revision.toString(16).padStart(14, '0');

export const logKey = (revision: Revision): string => `l${digits(revision)}`;

export const indexKey = (key: string, revision: Revision): string => `i${key}\0${digits(revision)}`;

export const expiryKey = (expires: number, revision: Revision): string =>
  `t${digits(expires)}${digits(revision)}`;

export function parseIndexKey(indexKey: string): { key: string; revision: Revision } {
  const separator = indexKey.length - 15;
  return { key: indexKey.slice(1, separator), revision: parseInt(indexKey.slice(separator + 1), 16) };
}

export function parseExpiryKey(expiryKey: string): { expires: number; revision: Revision } {
  return { expires: parseInt(expiryKey.slice(1, 15), 16), revision: parseInt(expiryKey.slice(15), 16) };
}

/** What a key holds, without its value. */
export interface Head {
  readonly modRevision: Revision;
  readonly createRevision: Revision;
  /** When the key ends by itself, in milliseconds since 1970; 0: never. */
  readonly expires: number;
}

export const encodeIndexValue = (head: Head | undefined): string =>
  head === undefined ? '' : digits(head.createRevision) + (head.expires === 0 ? '' : digits(head.expires));

export function decodeIndexValue(modRevision: Revision, value: Buffer): Head | undefined {
  if (value.length === 0) return undefined;
  const text = value.toString('latin1');
  return {
    modRevision,
    createRevision: parseInt(text.slice(0, 14), 16),
    expires: text.length > 14 ? parseInt(text.slice(14), 16) : 0,
  };
}

/** A record of the log. */
export interface LogRecord extends Change {
  /** As in `Head`. */
  readonly expires: number;
}

/** kind (1 byte), createRevision, previous, expires (8 each), length of the key (2), key, value. */
const headLength = 27;
const kinds = { put: 1, delete: 2 } as const;

export function encodeRecord(record: LogRecord): Buffer {
  const keyLength = Buffer.byteLength(record.key);
  const valueLength = record.value?.length ?? 0;
  const bytes = Buffer.allocUnsafe(headLength + keyLength + valueLength);
  bytes.writeUInt8(record.value === undefined ? kinds.delete : kinds.put, 0);
  bytes.writeDoubleBE(record.createRevision, 1);
  bytes.writeDoubleBE(record.previous, 9);
  bytes.writeDoubleBE(record.expires, 17);
  bytes.writeUInt16BE(keyLength, 25);
  bytes.write(record.key, headLength, 'utf8');
  record.value?.copy(bytes, headLength + keyLength);
  return bytes;
}

/** The record's value is a view of `bytes`. */
export function decodeRecord(revision: Revision, bytes: Buffer): LogRecord {
  const kind = bytes.length < headLength ? 0 : bytes.readUInt8(0);
  const valueAt = kind === 0 ? 0 : headLength + bytes.readUInt16BE(25);
  if ((kind !== kinds.put && kind !== kinds.delete) || valueAt > bytes.length) {
    throw new UnavailableError(`the record of revision ${revision} is damaged`);
  }
  return {
    revision,
    createRevision: bytes.readDoubleBE(1),
    previous: bytes.readDoubleBE(9),
    expires: bytes.readDoubleBE(17),
    key: bytes.toString('utf8', headLength, valueAt),
    value: kind === kinds.put ? bytes.subarray(valueAt) : undefined,
  };
}
