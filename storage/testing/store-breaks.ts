import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompactedError, UnavailableError } from '../errors.js';
import type { Backend, BackendEvents, BackendWatchOptions, Revision } from '../interface.js';
import { forward, type OpenBackend } from './backend-fixture.js';
import {
  after,
  bytesOf,
  describeEntry,
  erase,
  keyOf,
  openStore,
  save,
  TestWatch,
  thing,
} from './store-fixture.js';

/** A way to the backend that can be cut: its watches end, and new ones fail until it is mended. */
class Line {
  #cut = new AbortController();
  #watches = 0;
  isCut = false;
  #established: (() => void) | undefined;

  /** Resolves when a watch is in force again. */
  established(): Promise<void> {
    return new Promise((resolve) => {
      this.#established = resolve;
    });
  }

  get watches(): number {
    return this.#watches;
  }

  cut(): void {
    this.isCut = true;
    this.#cut.abort();
  }

  mend(): void {
    this.isCut = false;
    this.#cut = new AbortController();
  }

  wrap(backend: Backend): Backend {
    return {
      ...forward(backend),
      watch: (prefix, revision, signal, options) => this.#watch(backend, prefix, revision, signal, options),
    };
  }

  async *#watch(
    backend: Backend,
    prefix: string,
    revision: Revision,
    signal: AbortSignal,
    options?: BackendWatchOptions,
  ): AsyncGenerator<BackendEvents> {
    if (this.isCut) throw new UnavailableError('the line is cut');
    this.#watches++;
    const either = AbortSignal.any([signal, this.#cut.signal]);
    for await (const events of backend.watch(prefix, revision, either, options)) {
      yield events;
      this.#established?.();
    }
    if (!signal.aborted) throw new UnavailableError('the line is cut');
  }
}

export function breakTests(open: OpenBackend): void {
  test('when the watch of the backend breaks, watchers miss nothing and see nothing twice', async (t) => {
    const line = new Line();
    const { store, backend, clock } = await openStore(t, open, { wrap: (inner) => line.wrap(inner) });
    const { revision } = await save(store, thing('a'));
    const watch = new TestWatch(store, { from: after(revision) });
    const first = await save(store, thing('b'));
    assert.deepEqual(await watch.read(1), [`ADDED b:red ${first.revision}`]);
    line.cut();
    const key = keyOf(thing('c'));
    const c = await backend.write({ key, expect: 0, value: bytesOf(thing('c')) });
    const d = await backend.write({ key, expect: c.revision, value: bytesOf(thing('c', 'blue')) });
    const stale = assert.rejects(store.list({ at: { kind: 'newest' } }), UnavailableError);
    await settle(clock, stale);
    assert.equal((await store.list({ at: { kind: 'any' } })).entries.length, 2);
    line.mend();
    const established = line.established();
    await settle(clock, established);
    assert.deepEqual(await watch.read(2), [`ADDED c:red ${c.revision}`, `MODIFIED c:blue ${d.revision}`]);
    assert.equal((await store.list({ at: { kind: 'newest' } })).entries.length, 3);
    assert.ok(line.watches >= 2);
  });

  test('when history was compacted meanwhile, the cache fills anew and watchers must list again', async (t) => {
    const line = new Line();
    const { store, backend, clock } = await openStore(t, open, { wrap: (inner) => line.wrap(inner) });
    await save(store, thing('a'));
    const { revision } = await save(store, thing('b'));
    const watch = new TestWatch(store, { from: after(revision) });
    const resume = new TestWatch(store, { from: { kind: 'initial', bookmark: true } });
    await resume.read(3);
    const reading = assert.rejects(watch.read(1), CompactedError);
    line.cut();
    const { revision: deleted } = await backend.write({
      key: keyOf(thing('b')),
      expect: revision,
      value: undefined,
    });
    const c = await backend.write({ key: keyOf(thing('c')), expect: 0, value: bytesOf(thing('c')) });
    const e = await backend.write({ key: keyOf(thing('e')), expect: 0, value: bytesOf(thing('e')) });
    await backend.compact(e.revision);
    line.mend();
    // A watch of what is compacted may be in force for a moment before it is refused.
    await settle(clock, reading);
    await assert.rejects(resume.read(1), CompactedError);
    const { entries, revision: listed } = await store.list({ at: { kind: 'newest' } });
    assert.deepEqual(entries.map(describeEntry), ['a:red', 'c:red', 'e:red']);
    // A store may need a revision of its own to learn how far it is.
    assert.ok(listed >= e.revision);
    for (const old of [deleted - 1, c.revision - 1]) {
      await assert.rejects(new TestWatch(store, { from: after(old) }).read(1), CompactedError);
    }
    const gone = await erase(store, thing('e'));
    const next = new TestWatch(store, { from: after(listed) });
    assert.deepEqual(await next.read(1), [`DELETED e:red ${gone.revision}`]);
  });
}

/** Lets retries and waits of the cache run out until `done`, with room for what they do in between. */
async function settle<T>(clock: { advance(ms: number): void }, done: Promise<T>): Promise<T> {
  let settled = false;
  const finish = (): void => {
    settled = true;
  };
  done.then(finish, finish);
  for (let i = 0; !isSettled() && i < 2000; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    clock.advance(1000);
  }
  return await done;

  function isSettled(): boolean {
    return settled;
  }
}
