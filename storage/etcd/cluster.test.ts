import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { CompactedError, IncompatibleError, UnavailableError } from '../errors.js';
import type { Backend } from '../interface.js';
import { describeEvents, put, readUntil } from '../testing/backend-fixture.js';
import { writeCertificates } from '../testing/certificates.js';
import { etcdMissing, startEtcd, type EtcdCluster, type EtcdClusterOptions } from '../testing/etcd-server.js';
import { afterTest, makeDirectory, silent } from '../testing/level-directory.js';
import { createManualClock } from '../testing/manual-clock.js';
import { openEtcdBackend, tellsProgress, type EtcdBackendOptions } from './backend.js';
import { EtcdConnection } from './connection.js';

const skip = etcdMissing() ?? false;

async function start(t: TestContext, options?: EtcdClusterOptions): Promise<EtcdCluster> {
  const cluster = await startEtcd(options);
  afterTest(t, () => cluster.stop());
  return cluster;
}

async function open(
  t: TestContext,
  { members }: EtcdCluster,
  options: Partial<EtcdBackendOptions> = {},
): Promise<Backend> {
  const endpoints = members.map(({ endpoint }) => endpoint);
  const backend = await openEtcdBackend({ endpoints, logger: silent, compactionMilliseconds: 0, ...options });
  afterTest(t, () => backend.close());
  return backend;
}

/** Tries until the cluster has a leader again. */
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

test(
  'the death of any one of three members is survived, by writers and by those who watch again',
  { skip },
  async (t) => {
    const cluster = await start(t, { size: 3 });
    const backend = await patiently(() => open(t, cluster));
    let revision = await patiently(() => put(backend, '/g/r/a', 0, '0'));
    const start0 = revision;
    for (const [round, member] of cluster.members.entries()) {
      await member.kill();
      await patiently(async () => {
        // A write whose answer was lost may have happened.
        const { kv } = await backend.get('/g/r/a');
        revision =
          kv?.value.toString() === `${round + 1}`
            ? kv.modRevision
            : await put(backend, '/g/r/a', kv?.modRevision ?? 0, `${round + 1}`);
      });
      const read = await patiently(() =>
        readUntil(backend.watch('/g/r/', start0, new AbortController().signal), revision),
      );
      assert.deepEqual(
        read.flatMap(({ events }) => events.map(({ kv }) => kv.value.toString())),
        Array.from({ length: round + 1 }, (_, i) => `${i + 1}`),
      );
      await member.restart();
      await patiently(() => backend.check(new AbortController().signal));
    }
  },
);

test('without a quorum everything is refused, and works again with one', { skip }, async (t) => {
  const cluster = await start(t);
  const [member] = cluster.members;
  assert.ok(member);
  const backend = await patiently(() => open(t, cluster));
  const a1 = await put(backend, '/g/r/a', 0, 'a1');
  const watch = backend.watch('/g/r/', a1, new AbortController().signal)[Symbol.asyncIterator]();
  await watch.next();
  const broken = assert.rejects(watch.next(), UnavailableError);
  await member.kill();
  await broken;
  await assert.rejects(backend.currentRevision(), UnavailableError);
  await assert.rejects(put(backend, '/g/r/a', a1, 'a2'), UnavailableError);
  await assert.rejects(backend.list('/g/r/'), UnavailableError);
  await assert.rejects(backend.check(new AbortController().signal), UnavailableError);
  await member.restart();
  const a2 = await patiently(() => put(backend, '/g/r/a', a1, 'a2'));
  const read = await readUntil(backend.watch('/g/r/', a1, new AbortController().signal), a2);
  assert.deepEqual(describeEvents(read), [`${a2} put /g/r/a=a2 (${a1}..${a2}) was a1`]);
});

test('etcd is spoken to with certificates of both sides', { skip }, async (t) => {
  const files = await writeCertificates(await makeDirectory(t));
  const cluster = await start(t, { tls: files });
  const [ca, cert, key] = await Promise.all([readFile(files.ca), readFile(files.cert), readFile(files.key)]);
  const backend = await patiently(() => open(t, cluster, { tls: { ca, cert, key } }));
  await put(backend, '/g/r/a', 0, 'a1');
  await assert.rejects(open(t, cluster, { tls: { ca } }), UnavailableError);
  await assert.rejects(open(t, cluster), UnavailableError);
});

test('an etcd that nobody answers for, and a root in other hands, are refused', { skip }, async (t) => {
  const cluster = await start(t);
  const endpoints = cluster.members.map(({ endpoint }) => endpoint);
  const backend = await patiently(() => open(t, cluster, { root: '/ours' }));
  await put(backend, '/g/r/a', 0, 'a1');
  await open(t, cluster, { root: '/ours' });
  const connection = new EtcdConnection({ endpoints });
  afterTest(t, () => connection.close());
  const mark = '{"name":"nativirt","format":2}';
  await connection.call('Put', { key: Buffer.from('/ours.format'), value: Buffer.from(mark) });
  await assert.rejects(
    open(t, cluster, { root: '/ours' }),
    (error) => error instanceof IncompatibleError && error.message.includes(mark),
  );
  await assert.rejects(open(t, cluster, { endpoints: ['http://127.0.0.1:9'] }), UnavailableError);
  await assert.rejects(open(t, cluster, { endpoints: ['ftp://127.0.0.1:9'] }), RangeError);
  await assert.rejects(open(t, cluster, { endpoints: [] }), RangeError);
  await assert.rejects(open(t, cluster, { root: '/ours/' }), RangeError);
});

test('roots do not see each other', { skip }, async (t) => {
  const cluster = await start(t);
  const one = await patiently(() => open(t, cluster, { root: '/one' }));
  const more = await open(t, cluster, { root: '/one-more' });
  const created = await put(one, '/g/r/a', 0, 'one');
  await put(more, '/g/r/a', 0, 'more');
  assert.deepEqual(
    (await one.list('/')).items.map(({ key, value }) => `${key}=${value.toString()}`),
    ['/g/r/a=one'],
  );
  const read = await readUntil(more.watch('/', created - 1, new AbortController().signal), created + 1);
  assert.deepEqual(
    read.flatMap(({ events }) => events.map(({ kv }) => kv.value.toString())),
    ['more'],
  );
});

test(
  'of several processes that compact, one does, and history of one interval stays',
  { skip },
  async (t) => {
    const cluster = await start(t);
    const clock = createManualClock();
    const options = { clock, compactionMilliseconds: 1000 };
    const backend = await patiently(() => open(t, cluster, options));
    await open(t, cluster, options);
    let revision = 0;
    let oldest = 0;
    for (let step = 1; oldest === 0 && step < 50; step++) {
      revision = await put(backend, '/g/r/a', revision, `${step}`);
      clock.advance(1000);
      await setTimeout(50);
      await backend.list('/g/r/', { revision: 1 }).catch((error: unknown) => {
        assert.ok(error instanceof CompactedError);
        ({ oldest } = error);
      });
    }
    assert.ok(oldest > 1 && oldest < revision, `history begins at ${oldest} of ${revision}`);
  },
);

test('versions whose answers to progress requests overtake events are known', () => {
  const trusted = {
    '3.4.23': false,
    '3.4.25': true,
    '3.5.7': false,
    '3.5.8': true,
    '3.6.0-rc.1': true,
    '4.0.0': true,
  };
  for (const [version, expected] of Object.entries(trusted))
    assert.equal(tellsProgress(version), expected, version);
});
