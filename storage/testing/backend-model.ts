import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CompactedError, ConflictError } from '../errors.js';
import type { Backend, BackendEvents, Revision } from '../interface.js';
import { bytes, describeEvents, readUntil, type OpenBackend } from './backend-fixture.js';

interface Held {
  readonly value: string;
  readonly created: Revision;
  readonly modified: Revision;
}

type Contents = ReadonlyMap<string, Held>;

/** What a store should do, as simply as it can be said: every state it ever had, and what led there. */
class Model {
  readonly states: { revision: Revision; contents: Contents }[];
  readonly events: { revision: Revision; text: string }[] = [];

  constructor(start: Revision) {
    this.states = [{ revision: start, contents: new Map() }];
  }

  get now(): Contents {
    return this.at(Infinity);
  }

  at(revision: Revision): Contents {
    return this.states.findLast((state) => state.revision <= revision)?.contents ?? new Map();
  }

  write(revision: Revision, key: string, value: string | undefined): void {
    const contents = new Map(this.now);
    const was = contents.get(key);
    const created = was?.created ?? revision;
    if (value === undefined) contents.delete(key);
    else contents.set(key, { value, created, modified: revision });
    this.states.push({ revision, contents });
    const type = value === undefined ? 'delete' : 'put';
    this.events.push({
      revision,
      text: `${revision} ${type} ${key}=${value ?? was?.value ?? ''} (${created}..${revision}) was ${was?.value ?? 'nothing'}`,
    });
  }
}

/** A watch from the start, which is read now and then. */
class LiveWatch {
  readonly told: BackendEvents[] = [];
  readonly #events: AsyncIterator<BackendEvents>;
  #revision: Revision;

  constructor(
    private readonly backend: Backend,
    prefix: string,
    start: Revision,
  ) {
    this.#events = backend.watch(prefix, start, new AbortController().signal)[Symbol.asyncIterator]();
    this.#revision = start;
  }

  async begin(): Promise<void> {
    await this.#events.next();
  }

  /** Reads what was written until now; resolves with its revision. */
  async catchUp(): Promise<Revision> {
    const end = await this.backend.currentRevision();
    while (this.#revision < end) {
      const next = this.#events.next();
      this.backend.requestProgress?.();
      const answer = await next;
      if (answer.done === true) throw new Error('the watch has ended');
      if (answer.value.events.length > 0) this.told.push(answer.value);
      this.#revision = answer.value.revision;
    }
    return end;
  }
}

const keys = fc.constantFrom('/g/r/a', '/g/r/b', '/g/r/b/c', '/g/q/a');
/** Which of the states so far, as a share of them. */
const moment = fc.double({ min: 0, max: 1, noNaN: true });
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('put' as const), key: keys, value: fc.string({ maxLength: 5 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), key: keys }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('conflict' as const), key: keys }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('list' as const), moment, limit: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), moment }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

export function modelTests(open: OpenBackend, numRuns: number): void {
  test('any sequence of operations does what a simple model does, and watches tell it', async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), moment, async (commands, watchFrom) => {
        const { backend } = await open(t);
        const start = await backend.currentRevision();
        const model = new Model(start);
        const live = new LiveWatch(backend, '/g/r/', start);
        await live.begin();
        let compacted = 0;
        for (const item of commands) {
          // A reader who is behind a compaction may miss what was before a change.
          if (item.do === 'compact') await live.catchUp();
          compacted = await perform(backend, model, item, compacted);
        }
        const end = await live.catchUp();
        assert.deepEqual(describeEvents(live.told), eventsAfter(model, start));
        const from = Math.max(compacted, pick(model, watchFrom));
        const watch = readUntil(backend.watch('/g/r/', from, new AbortController().signal), end);
        assert.deepEqual(describeEvents(await watch), eventsAfter(model, from));
        await backend.close();
      }),
      { numRuns },
    );
  });
}

const pick = (model: Model, share: number): Revision =>
  model.states[Math.floor(share * (model.states.length - 1))]?.revision ?? 0;

const eventsAfter = (model: Model, revision: Revision): string[] =>
  model.events
    .filter((event) => event.revision > revision && event.text.includes(' /g/r/'))
    .map(({ text }) => text);

/** Returns the revision before which history is gone. */
async function perform(
  backend: Backend,
  model: Model,
  item: Command,
  compacted: Revision,
): Promise<Revision> {
  switch (item.do) {
    case 'put':
      await write(backend, model, item.key, item.value);
      return compacted;
    case 'delete':
      if (model.now.has(item.key)) await write(backend, model, item.key, undefined);
      return compacted;
    case 'conflict': {
      const expect = (model.now.get(item.key)?.modified ?? 0) + 1;
      await assert.rejects(backend.write({ key: item.key, expect, value: bytes('no') }), ConflictError);
      return compacted;
    }
    case 'list':
      await list(backend, model, pick(model, item.moment), item.limit, compacted);
      return compacted;
    case 'compact': {
      const revision = pick(model, item.moment);
      if (revision <= compacted) return compacted;
      await backend.compact(revision);
      return revision;
    }
  }
}

async function write(backend: Backend, model: Model, key: string, value: string | undefined): Promise<void> {
  const expect = model.now.get(key)?.modified ?? 0;
  const { revision } = await backend.write({
    key,
    expect,
    value: value === undefined ? undefined : bytes(value),
  });
  model.write(revision, key, value);
}

async function list(
  backend: Backend,
  model: Model,
  revision: Revision,
  limit: number,
  compacted: Revision,
): Promise<void> {
  if (revision < compacted) {
    await assert.rejects(backend.list('/g/r/', { revision, limit }), CompactedError);
    return;
  }
  const listed: [string, Held][] = [];
  let after: string | undefined;
  for (let more = true; more;) {
    const page = await backend.list('/g/r/', { revision, limit, ...(after && { after }) });
    for (const { key, value, createRevision, modRevision } of page.items) {
      listed.push([key, { value: value.toString(), created: createRevision, modified: modRevision }]);
    }
    more = page.more;
    after = page.items.at(-1)?.key;
  }
  const contents = [...model.at(revision)].filter(([key]) => key.startsWith('/g/r/'));
  assert.deepEqual(
    listed,
    contents.sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
