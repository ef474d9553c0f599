import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { ConnectionError } from './errors.js';
import { SharedInformer } from './informer.js';
import { pods } from './kinds.js';
import { FakeClock, settle } from './testing/fake-clock.js';
import { FakeClient } from './testing/fake-client.js';
import { overriding } from './testing/overriding.js';
import { ScriptedClient, pod, podList, type Script } from './testing/scripted-client.js';
import { SilentLogger } from './testing/silent-logger.js';
import { statusError } from './testing/status-error.js';

interface Run {
  readonly server: ScriptedClient;
  readonly clock: FakeClock;
  readonly informer: SharedInformer<ReturnType<typeof pod>>;
  readonly log: string[];
}

async function mirror(t: TestContext, script: Script): Promise<Run> {
  const server = new ScriptedClient(script);
  const clock = new FakeClock();
  const logger = new SilentLogger();
  const informer = new SharedInformer({ client: server.client, kind: pods, clock, logger, random: () => 0 });
  const log: string[] = [];
  informer.addHandler({
    add: ({ metadata }) => log.push(`+${metadata.name}@${metadata.resourceVersion}`),
    update: (before, { metadata }) =>
      log.push(`${metadata.name}@${before.metadata.resourceVersion}→${metadata.resourceVersion}`),
    delete: ({ metadata }) => log.push(`-${metadata.name}@${metadata.resourceVersion}`),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  await settle();
  return { server, clock, informer, log };
}

const expired = statusError('Expired', pods);

test('pages of a list are read to the end before anything is seen', async (t) => {
  const { server, informer, log } = await mirror(t, {
    lists: [podList(7, [pod('a', 1)], 'next'), podList(7, [pod('b', 2)])],
    watches: [],
  });
  assert.deepEqual(log, ['+a@1', '+b@2']);
  assert.equal(informer.hasSynced, true);
  assert.deepEqual(server.lists, [{ limit: 500 }, { limit: 500, continue: 'next' }]);
  assert.deepEqual(server.watches, [{ resourceVersion: '7', timeoutSeconds: 300 }]);
});

test('where the server can, a list is the beginning of a watch', async (t) => {
  const { server, informer, log } = await mirror(t, {
    streams: true,
    lists: [],
    watches: [
      [
        { type: 'ADDED', object: pod('a', 1) },
        { type: 'ADDED', object: pod('b', 2) },
        { type: 'MODIFIED', object: pod('a', 3) },
        { type: 'DELETED', object: pod('b', 4) },
        { type: 'BOOKMARK', resourceVersion: '5' },
        { type: 'BOOKMARK', resourceVersion: '6', initialEventsEnd: true },
        { type: 'ADDED', object: pod('c', 7) },
      ],
    ],
  });
  assert.deepEqual(server.watches, [{ resourceVersion: '', sendInitialEvents: true, timeoutSeconds: 300 }]);
  assert.deepEqual(log, ['+a@3', '+c@7'], 'nothing is seen before all has come');
  assert.equal(informer.hasSynced, true);
});

test('a watch that breaks off before all has come shows nothing, and begins anew', async (t) => {
  const { server, clock, informer, log } = await mirror(t, {
    streams: true,
    lists: [],
    watches: [
      [{ type: 'ADDED', object: pod('a', 1) }, { end: true }],
      [
        { type: 'ADDED', object: pod('b', 2) },
        { type: 'BOOKMARK', resourceVersion: '3', initialEventsEnd: true },
        { error: expired },
      ],
      [
        { type: 'ADDED', object: pod('c', 4) },
        { type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: true },
      ],
    ],
  });
  assert.equal(informer.hasSynced, false);
  await clock.advance(800);
  assert.deepEqual(log, ['+b@2']);
  await clock.advance(1600);
  assert.deepEqual(log, ['+b@2', '+c@4', '-b@2']);
  assert.equal(server.lists.length, 0);
});

test('a watch that ends is taken up where it stopped, bookmarks included', async (t) => {
  const { server, clock, log } = await mirror(t, {
    lists: [podList(1, [])],
    watches: [
      [{ type: 'ADDED', object: pod('a', 2) }, { type: 'BOOKMARK', resourceVersion: '9' }, { end: true }],
      [{ type: 'MODIFIED', object: pod('a', 10) }],
    ],
  });
  assert.equal(server.watches.length, 1, 'a watch that ends at once is not opened again at once');
  await clock.advance(800);
  assert.deepEqual(log, ['+a@2', 'a@2→10']);
  assert.equal(server.watches[1]?.resourceVersion, '9');
  assert.equal(server.lists.length, 1);
});

test('410 in the stream: the collection is listed again after a delay, and only differences are seen', async (t) => {
  const { server, clock, log } = await mirror(t, {
    lists: [
      podList(1, [pod('a', 1), pod('b', 1), pod('c', 1)]),
      podList(9, [pod('a', 1), pod('b', 8), pod('d', 9)]),
    ],
    watches: [[{ error: expired }]],
  });
  log.length = 0;
  assert.equal(server.lists.length, 1);
  await clock.advance(800);
  assert.equal(server.lists.length, 2);
  assert.deepEqual(log, ['b@1→8', '+d@9', '-c@1']);
});

test('a broken connection keeps what is known and resumes', async (t) => {
  const { server, clock, informer, log } = await mirror(t, {
    lists: [podList(1, [pod('a', 1)])],
    watches: [[{ error: new ConnectionError('reset') }], [{ type: 'DELETED', object: pod('a', 5) }]],
  });
  assert.equal(informer.size, 1);
  await clock.advance(800);
  assert.deepEqual(log, ['+a@1', '-a@5']);
  assert.equal(server.watches[1]?.resourceVersion, '1');
});

test('failures are retried ever more slowly, up to 30 s', async (t) => {
  const { server, clock, informer } = await mirror(t, {
    lists: [statusError('ServiceUnavailable', pods)],
    watches: [],
  });
  const delays: number[] = [];
  for (let attempt = 1; attempt <= 8; attempt++) {
    delays.push(clock.nextTimer ?? 0);
    await clock.advance(clock.nextTimer ?? 0);
  }
  assert.deepEqual(delays, [800, 1600, 3200, 6400, 12_800, 15_000, 15_000, 15_000]);
  assert.equal(server.lists.length, 9);
  assert.equal(informer.hasSynced, false, 'a store that does not answer is not an empty one');
});

test('a server that ends every watch at once with 410 is not hammered', async (t) => {
  const { server, clock } = await mirror(t, {
    lists: [podList(1, [])],
    watches: Array.from({ length: 1000 }, () => [{ error: expired }]),
  });
  await clock.advance(60_000);
  assert.ok(server.lists.length < 12, `listed ${server.lists.length} times in a minute`);
});

test('a watch without any sign of life is given up', async (t) => {
  const { server, clock } = await mirror(t, { lists: [podList(4, [])], watches: [[], []] });
  await clock.advance(149_000);
  assert.equal(server.watches.length, 1);
  await clock.advance(1000 + 800);
  assert.equal(server.watches.length, 2);
});

test('an object that was deleted and made again unseen is deleted and added', async (t) => {
  const { clock, log } = await mirror(t, {
    lists: [podList(1, [pod('a', 1, 'old')]), podList(5, [pod('a', 5, 'new')])],
    watches: [[{ error: expired }]],
  });
  await clock.advance(800);
  assert.deepEqual(log, ['+a@1', '-a@1', '+a@5']);
});

test('a list without resourceVersion can not be watched from, so it is an error', async (t) => {
  const { server, informer } = await mirror(t, {
    lists: [{ apiVersion: 'v1', kind: 'PodList', metadata: {}, items: [] }],
    watches: [],
  });
  assert.equal(informer.hasSynced, false);
  assert.equal(server.watches.length, 0);
});

test('whatever breaks, an informer ends with the state of the server, and saw each state once', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('write' as const), name: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constant('delete' as const), name: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constantFrom('break' as const, 'expire' as const, 'wait' as const) }),
    ),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const clock = new FakeClock();
      const server = new FakeClient(clock);
      let interrupt: ((error: Error) => void) | undefined;
      const client = overriding(server, {
        async *watch(kind, params, signal) {
          const broken = new AbortController();
          interrupt = (error) => {
            broken.abort(error);
          };
          const either = AbortSignal.any([broken.signal, ...(signal === undefined ? [] : [signal])]);
          yield* server.watch(kind, params, either);
        },
      });
      const logger = new SilentLogger();
      const informer = new SharedInformer({ client, kind: pods, clock, logger, random: () => 0 });
      const seen = new Map<string, string>();
      informer.addHandler({
        add: ({ metadata }) => {
          assert.equal(seen.get(metadata.name), undefined);
          seen.set(metadata.name, metadata.resourceVersion);
        },
        update: (before, { metadata }) => {
          assert.equal(seen.get(metadata.name), before.metadata.resourceVersion);
          assert.notEqual(before.metadata.resourceVersion, metadata.resourceVersion);
          seen.set(metadata.name, metadata.resourceVersion);
        },
        delete: ({ metadata }) => {
          assert.ok(seen.delete(metadata.name));
        },
      });
      const stop = new AbortController();
      const running = informer.run(stop.signal);
      for (const step of script) await perform(step, server, clock, (error) => interrupt?.(error));
      await clock.advance(120_000);
      const actual = new Map(
        server.all(pods).map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
      );
      assert.deepEqual(new Map([...seen].sort()), actual);
      assert.deepEqual(
        logger.problems.filter(({ level }) => level === 'error'),
        [],
      );
      stop.abort();
      await running;
    }),
    { numRuns: 30 },
  );
});

type Step =
  { kind: 'write'; name: string } | { kind: 'delete'; name: string } | { kind: 'break' | 'expire' | 'wait' };

async function perform(
  step: Step,
  server: FakeClient,
  clock: FakeClock,
  interrupt: (error: Error) => void,
): Promise<void> {
  switch (step.kind) {
    case 'write': {
      const key = { namespace: 'default', name: step.name };
      if (server.find(pods, key) === undefined)
        await server.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: key });
      else server.put(pods, key, (each) => ({ ...each, metadata: { ...each.metadata, labels: { x: 'y' } } }));
      return;
    }
    case 'delete': {
      const key = { namespace: 'default', name: step.name };
      if (server.find(pods, key) !== undefined) server.remove(pods, key);
      return;
    }
    case 'break':
      interrupt(new ConnectionError('reset'));
      return;
    case 'expire':
      interrupt(expired);
      return;
    case 'wait':
      await clock.advance(1000);
      return;
  }
}
