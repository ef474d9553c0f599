/** What becomes of reads, writes and watches when etcd is cut off, stands still, is slow, or is full. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createStoreSet } from '../cache/store-set.js';
import { TooLargeError, UnavailableError } from '../errors.js';
import type { Backend, Entry, ObjectStore } from '../interface.js';
import { put, readUntil } from '../testing/backend-fixture.js';
import { etcdMissing, startEtcd, type EtcdCluster } from '../testing/etcd-server.js';
import { afterTest, silent } from '../testing/level-directory.js';
import {
  after,
  attributesOf,
  erase,
  prefix,
  save,
  TestWatch,
  thing,
  type Thing,
} from '../testing/store-fixture.js';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.js';
import { openEtcdBackend } from './backend.js';

const skip = etcdMissing() ?? false;

interface Setup {
  readonly cluster: EtcdCluster;
  /** Before each member. */
  readonly lines: readonly TcpProxy[];
  readonly backend: Backend;
  readonly store: ObjectStore;
}

async function setUp(t: TestContext, size: number, flags: readonly string[] = []): Promise<Setup> {
  const cluster = await startEtcd({ size, flags });
  afterTest(t, () => cluster.stop());
  const lines = await Promise.all(
    cluster.members.map(({ endpoint }) => startTcpProxy(Number(new URL(endpoint).port))),
  );
  for (const line of lines) afterTest(t, () => line.close());
  const endpoints = lines.map(({ port }) => `http://127.0.0.1:${port}`);
  const backend = await patiently(() =>
    openEtcdBackend({ endpoints, logger: silent, compactionMilliseconds: 0 }),
  );
  afterTest(t, () => backend.close());
  const stores = createStoreSet({ backend, logger: silent });
  const store = stores.add({
    prefix,
    attributesOf: (_key, bytes) => attributesOf(JSON.parse(bytes.toString()) as Thing),
  });
  afterTest(t, () => stores.close());
  await stores.start();
  return { cluster, lines, backend, store };
}

/** Tries until it succeeds: refusals must be those of a store that is not available. */
async function patiently<T>(action: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i++) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof UnavailableError) || i === 100) throw error;
      await setTimeout(100);
    }
  }
}

const names = (entries: readonly Entry[]): string[] => entries.map(({ attributes }) => attributes.name);

async function list(store: ObjectStore): Promise<string[]> {
  return names((await store.list({ at: { kind: 'newest' } })).entries);
}

/** Writes `name`, though an earlier try may have been done without an answer. */
async function saveSurely(store: ObjectStore, name: string): Promise<void> {
  await patiently(async () => {
    if ((await list(store)).includes(name)) return;
    await save(store, thing(name));
  });
}

for (const { how, members } of [
  { how: 'cut off', members: 3 },
  { how: 'standing still', members: 1 },
] as const) {
  test(
    `one member of three ${how}, without a word: reads, writes and watches go on with the others`,
    { skip },
    async (t) => {
      const { cluster, lines, store } = await setUp(t, 3);
      const { revision } = await patiently(() => save(store, thing('first')));
      const watch = new TestWatch(store, { from: after(revision) });
      const expected = ['first'];
      for (const [at, member] of cluster.members.slice(0, members).entries()) {
        const line = lines[at];
        assert.ok(line);
        if (how === 'cut off') line.cut();
        else member.pause();
        const name = `during-${at}`;
        await saveSurely(store, name);
        expected.unshift(name);
        expected.sort();
        assert.deepEqual(await patiently(() => list(store)), expected);
        assert.match((await watch.read(1))[0] ?? '', new RegExp(`^ADDED ${name}:`));
        if (how === 'cut off') line.mend();
        else member.resume();
      }
      await saveSurely(store, 'last');
      assert.match((await watch.read(1))[0] ?? '', /^ADDED last:/);
    },
  );
}

test(
  'a quorum that is lost without a word is told, never answered with old state, and mends',
  { skip },
  async (t) => {
    const { cluster, store } = await setUp(t, 3);
    await saveSurely(store, 'first');
    const [, second, third] = cluster.members;
    second?.pause();
    third?.pause();
    await assert.rejects(list(store), UnavailableError);
    await assert.rejects(save(store, thing('lost')), UnavailableError);
    second?.resume();
    third?.resume();
    await saveSurely(store, 'second');
    const found = await patiently(() => list(store));
    // What was refused without a word of etcd may have been written.
    assert.deepEqual(
      found.filter((name) => name !== 'lost'),
      ['first', 'second'],
    );
  },
);

test('a slow etcd makes everything slow, and nothing wrong', { skip }, async (t) => {
  const { lines, store } = await setUp(t, 1);
  await save(store, thing('first'));
  for (const line of lines) line.delay(300);
  const second = await save(store, thing('second'));
  assert.deepEqual(await list(store), ['first', 'second']);
  assert.equal(await store.get(`${prefix}none`, { kind: 'newest' }), undefined);
  const watch = new TestWatch(store, { from: after(second.revision) });
  const third = await save(store, thing('third'));
  assert.deepEqual(await watch.read(1), [`ADDED third:red ${third.revision}`]);
});

test(
  'a full etcd refuses what needs space, says why, and is written again when there is some',
  { skip },
  async (t) => {
    const { cluster, backend, store } = await setUp(t, 1, ['--quota-backend-bytes', `${4 * 1024 * 1024}`]);
    const endpoint = cluster.members[0]?.endpoint ?? '';
    await save(store, thing('first'));
    const filler: number[] = [];
    const full = async (): Promise<unknown> => {
      for (let i = 0; i < 100; i++) {
        try {
          filler.push(await put(backend, `/g/filler/${i}`, 0, 'x'.repeat(500_000)));
        } catch (error) {
          return error;
        }
      }
      return undefined;
    };
    const refusal = await full();
    assert.ok(refusal instanceof UnavailableError && !refusal.uncertain, String(refusal));
    assert.match(refusal.message, /^etcd can not write: .*database space exceeded/);
    await assert.rejects(save(store, thing('second')), /database space exceeded/);
    await assert.rejects(
      backend.write({ key: '/g/events/a', expect: 0, value: Buffer.from('x'), ttlSeconds: 60 }),
      UnavailableError,
    );
    assert.deepEqual(await list(store), ['first']);
    // Deleting needs none.
    await erase(store, thing('first'));
    let last = 0;
    for (const [i, expect] of filler.entries()) {
      ({ revision: last } = await backend.write({ key: `/g/filler/${i}`, expect, value: undefined }));
    }
    await backend.compact(last);
    await maintain(endpoint, 'defragment', {});
    const raised = (await maintain(endpoint, 'alarm', { action: 'GET' })) as { alarms: readonly object[] };
    for (const alarm of raised.alarms) await maintain(endpoint, 'alarm', { action: 'DEACTIVATE', ...alarm });
    await saveSurely(store, 'second');
    assert.deepEqual(await list(store), ['second']);
  },
);

/** What an admin does with etcdctl. */
async function maintain(endpoint: string, what: string, request: object): Promise<unknown> {
  const response = await fetch(`${endpoint}/v3/maintenance/${what}`, {
    method: 'POST',
    body: JSON.stringify(request),
  });
  assert.ok(response.ok, `${what}: ${response.status}`);
  return await response.json();
}

test(
  'a value that etcd does not take is named as such; lists are read whatever their size',
  { skip },
  async (t) => {
    const { backend } = await setUp(t, 1, ['--quota-backend-bytes', `${512 * 1024 * 1024}`]);
    await assert.rejects(
      put(backend, '/g/r/huge', 0, 'x'.repeat(2_000_000)),
      (error) => error instanceof TooLargeError && error.bytes === 2_000_000,
    );
    const value = 'x'.repeat(1_000_000);
    let revision = 0;
    // More than one message may hold.
    for (let i = 10; i < 30; i++) revision = await put(backend, `/g/r/${i}`, 0, value);
    const { items, more } = await backend.list('/g/r/');
    assert.deepEqual([items.length, more, items.at(-1)?.modRevision], [20, false, revision]);
    const read = await readUntil(
      backend.watch('/g/r/', revision - 20, new AbortController().signal),
      revision,
    );
    assert.equal(read.length, 20);
  },
);

test('while nobody answers, each call says so', { skip }, async (t) => {
  const { cluster, backend } = await setUp(t, 1);
  await cluster.members[0]?.kill();
  const calls = [
    backend.currentRevision(),
    backend.get('/g/r/a'),
    backend.list('/g/r/'),
    put(backend, '/g/r/a', 0, 'a'),
    backend.compact(1),
    backend.check(new AbortController().signal),
    readUntil(backend.watch('/g/r/', 0, new AbortController().signal), 1),
  ];
  for (const outcome of await Promise.allSettled(calls)) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof UnavailableError, outcome.status);
  }
});
