import test from 'node:test';
import assert from 'node:assert/strict';
import { jsonReply } from '../http/status-reply.js';
import type { Handler } from '../request.js';
import { startTestServer } from '../../test/apiserver/test-server.js';

interface Gate {
  readonly handle: Handler;
  /** Resolves when so many requests are inside. */
  readonly reached: (count: number) => Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  const waiting: (() => void)[] = [];
  let watchers: { count: number; resolve: () => void }[] = [];
  return {
    handle: () =>
      new Promise((resolve) => {
        waiting.push(() => {
          resolve(jsonReply({}));
        });
        watchers = watchers.filter(({ count, resolve: reached }) => {
          if (waiting.length >= count) reached();
          return waiting.length < count;
        });
      }),
    reached: (count) =>
      new Promise((resolve) => {
        if (waiting.length >= count) resolve();
        else watchers.push({ count, resolve });
      }),
    open: () => {
      waiting.splice(0).forEach((release) => {
        release();
      });
    },
  };
}

const path = '/api/v1/namespaces/x/configmaps';
const everything = { authorizer: { authorize: () => ({ effect: 'allow', reason: '' }) as const } };

test('reads and writes have limits of their own; beyond them a client is told when to come back', async (t) => {
  const { handle, reached, open } = gate();
  const server = await startTestServer(t, { ...everything, handle, limits: { reads: 2, writes: 1 } });
  const reads = [1, 2].map(() => server.request('GET', path, { token: 'bob' }));
  const write = server.request('POST', path, { token: 'bob', body: '{}' });
  await reached(3);
  for (const method of ['GET', 'POST', 'DELETE']) {
    const refused = await server.request(method, path, { token: 'bob' });
    assert.deepEqual([refused.status, refused.json().reason], [429, 'TooManyRequests'], method);
    assert.equal(refused.headers['retry-after'], '1');
  }
  // Discovery and health do not wait behind work, and administrators get through.
  assert.equal((await server.request('GET', '/apis', { token: 'bob' })).status, 200);
  const admin = server.request('GET', path, { token: 'admin' });
  await reached(4);
  open();
  for (const answer of await Promise.all([...reads, write, admin])) assert.equal(answer.status, 200);
  const again = server.request('GET', path, { token: 'bob' });
  await reached(1);
  open();
  assert.equal((await again).status, 200);
});

test('watches do not take from the limits', async (t) => {
  const server = await startTestServer(t, {
    ...everything,
    limits: { reads: 1 },
    handle: (context) =>
      Promise.resolve(
        context.info.verb === 'watch'
          ? {
              kind: 'stream',
              contentType: 'application/json',
              chunks: (async function* () {
                yield [Buffer.from('\n')];
                await new Promise((resolve) => {
                  context.signal.addEventListener('abort', resolve);
                });
              })(),
            }
          : jsonReply({}),
      ),
  });
  const watches = await Promise.all(
    [1, 2, 3].map(() => server.open('GET', `${path}?watch=1`, { token: 'bob' })),
  );
  assert.equal((await server.request('GET', path, { token: 'bob' })).status, 200);
  const metrics = (await server.request('GET', '/metrics', { token: 'bob' })).text;
  assert.match(metrics, /apiserver_longrunning_requests\{verb="WATCH".*\} 3/);
  assert.match(metrics, /apiserver_watch_events_total\{.*resource="configmaps"\} 3/);
  assert.match(metrics, /authentication_attempts\{result="success"\} 5/);
  for (const { request } of watches) request.destroy();
});

test('a reader that does not read is not fed: the source waits for it', async (t) => {
  let produced = 0;
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const server = await startTestServer(t, {
    ...everything,
    handle: () =>
      Promise.resolve({
        kind: 'stream',
        contentType: 'application/json',
        // eslint-disable-next-line @typescript-eslint/require-await -- a source that never waits by itself
        chunks: (async function* () {
          for (;;) {
            produced++;
            yield [chunk];
          }
        })(),
      }),
  });
  const { request } = await server.open('GET', `${path}?watch=1`, { token: 'bob' });
  let before = -1;
  while (before !== produced) {
    before = produced;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(produced < 1000, `${produced} chunks were taken from the source`);
  request.destroy();
});

test('metrics never take a label from what a client makes up', async (t) => {
  const server = await startTestServer(t, everything);
  await server.request('GET', '/apis/made.up.example.com/v1/inventions/x', { token: 'bob' });
  await server.request('GET', '/made-up-path', { token: 'bob' });
  const metrics = (await server.request('GET', '/metrics', { token: 'bob' })).text;
  assert.doesNotMatch(metrics, /made|inventions/);
});

test('an answer that its client does not take in time is cut off, and gives back its place', async (t) => {
  const chunks = Array.from({ length: 200 }, () => Buffer.alloc(256 * 1024, 'x'));
  const server = await startTestServer(t, {
    ...everything,
    limits: { reads: 1 },
    requestTimeoutMs: 300,
    handle: (context) =>
      Promise.resolve(
        context.info.name === 'large'
          ? { kind: 'bytes', status: 200, contentType: 'application/json', chunks }
          : jsonReply({}),
      ),
  });
  const { response } = await server.open('GET', `${path}/large`, { token: 'bob' });
  response.on('error', () => undefined);
  assert.equal((await server.request('GET', path, { token: 'bob' })).status, 429);
  const closed = new Promise((resolve) => response.once('close', resolve));
  // Reading on only much later: the server has given up by then.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  response.resume();
  await closed;
  assert.equal(response.complete, false);
  assert.equal((await server.request('GET', path, { token: 'bob' })).status, 200);
});
