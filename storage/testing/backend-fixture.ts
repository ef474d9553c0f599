import type { TestContext } from 'node:test';
import type { Backend, BackendEvents, Revision } from '../interface.js';

/** An empty backend for one test, which the opener closes after the test. */
export interface BackendFixture {
  readonly backend: Backend;
  /** Lets that much time pass for lifetimes of keys, one way or another. */
  readonly passSeconds: (seconds: number) => Promise<void>;
}

export type OpenBackend = (t: TestContext) => Promise<BackendFixture>;

/** Reads a watch until it has told everything up to `revision`. */
export async function readUntil(
  watch: AsyncIterable<BackendEvents>,
  revision: Revision,
): Promise<BackendEvents[]> {
  const read: BackendEvents[] = [];
  for await (const events of watch) {
    if (events.events.length > 0) read.push(events);
    if (events.revision >= revision) break;
  }
  return read;
}

/** Events in one line each, for comparison. */
export function describeEvents(read: readonly BackendEvents[]): string[] {
  return read.flatMap(({ revision, events }) =>
    events.map(
      ({ type, key, kv, previous }) =>
        `${revision} ${type} ${key}=${kv.value.toString()} (${kv.createRevision}..${kv.modRevision}) was ${previous?.value.toString() ?? 'nothing'}`,
    ),
  );
}

export const bytes = (text: string): Buffer => Buffer.from(text);

export async function put(backend: Backend, key: string, expect: Revision, value: string): Promise<Revision> {
  return (await backend.write({ key, expect, value: bytes(value) })).revision;
}

export async function remove(backend: Backend, key: string, expect: Revision): Promise<Revision> {
  return (await backend.write({ key, expect, value: undefined })).revision;
}

/** A backend that does what `backend` does: to replace one method of it. */
export const forward = (backend: Backend): Backend => ({
  currentRevision: (signal) => backend.currentRevision(signal),
  get: (key, options) => backend.get(key, options),
  list: (prefix, options) => backend.list(prefix, options),
  write: (write) => backend.write(write),
  watch: (prefix, after, signal, options) => backend.watch(prefix, after, signal, options),
  requestProgress: () => backend.requestProgress?.(),
  compact: (revision) => backend.compact(revision),
  check: (signal) => backend.check(signal),
  close: () => backend.close(),
});
