import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { jsonReply } from '../http/status-reply.js';
import type { Handler } from '../request.js';
import { startTestServer } from '../../test/apiserver/test-server.js';

const watchPath = '/api/v1/configmaps?watch=true';

/** A watch that says something at once, and then nothing until it is told to end. */
const quietWatch: Handler = (context) =>
  Promise.resolve({
    kind: 'stream',
    contentType: 'application/json',
    chunks: (async function* () {
      yield [Buffer.from('{"type":"ADDED"}\n')];
      await new Promise((resolve) => {
        context.signal.addEventListener('abort', resolve);
      });
    })(),
  });

async function text(response: IncomingMessage): Promise<{ text: string; complete: boolean }> {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(response, 'close');
  return { text: Buffer.concat(chunks).toString(), complete: response.complete };
}

test('a watch is flushed at once, and ends cleanly when the server stops', async (t) => {
  const server = await startTestServer(t, { handle: quietWatch });
  const { response } = await server.open('GET', watchPath, { token: 'admin' });
  const [first] = (await once(response, 'data')) as [Buffer];
  assert.equal(first.toString(), '{"type":"ADDED"}\n');
  const ended = text(response);
  await server.server.stop();
  assert.deepEqual(await ended, { text: '', complete: true });
});

test('a watch whose client leaves is told to end', async (t) => {
  let ended: (() => void) | undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const server = await startTestServer(t, {
    handle: (context) => {
      context.signal.addEventListener('abort', () => ended?.());
      return quietWatch(context);
    },
  });
  const { request } = await server.open('GET', watchPath, { token: 'admin' });
  request.destroy();
  await end;
});

test('a request in flight is answered before the server has stopped, and its connection closes', async (t) => {
  let finish: (() => void) | undefined;
  let arrived: (() => void) | undefined;
  const started = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = await startTestServer(t, {
    handle: () =>
      new Promise((resolve) => {
        arrived?.();
        finish = () => {
          resolve(jsonReply({ done: true }));
        };
      }),
  });
  const agent = new https.Agent({ keepAlive: true });
  t.after(() => {
    agent.destroy();
  });
  const answer = server.request('GET', '/api/v1/configmaps', { token: 'admin', agent });
  await started;
  const stopped = server.server.stop();
  finish?.();
  const { headers, status } = await answer;
  assert.deepEqual([status, headers.connection], [200, 'close']);
  await stopped;
});

test('requests that do not finish in time are cut off', async (t) => {
  const server = await startTestServer(t, {
    handle: () => new Promise(() => undefined),
    shutdownTimeoutMs: 50,
  });
  const answer = server.request('GET', '/api/v1/configmaps', { token: 'admin' });
  const failed = assert.rejects(answer, /socket hang up|ECONNRESET/);
  while (
    !(await server.request('GET', '/metrics', { token: 'admin' })).text.includes('request_kind="readOnly"} 1')
  ) {
    // The request is on its way.
  }
  await server.server.stop();
  await failed;
});

test('readiness fails first, while requests are still served', async (t) => {
  const server = await startTestServer(t, { shutdownDelayMs: 300 });
  assert.equal((await server.request('GET', '/readyz')).text, 'ok');
  const stopped = server.server.stop();
  const ready = await server.request('GET', '/readyz?verbose');
  assert.equal(ready.status, 500);
  assert.match(ready.text, /\[\+\]ping ok\n\[-\]shutdown failed: reason withheld\nreadyz check failed\n/);
  assert.equal((await server.request('GET', '/livez')).status, 200);
  assert.equal((await server.request('GET', '/api/v1/configmaps', { token: 'admin' })).status, 200);
  await stopped;
});

test('idle and silent connections do not hold up the stop', async (t) => {
  const server = await startTestServer(t);
  const agent = new https.Agent({ keepAlive: true });
  t.after(() => {
    agent.destroy();
  });
  await server.request('GET', '/version', { token: 'admin', agent });
  await server.server.stop();
  await server.server.stop();
});

test('a stream that comes after its client has left is let go of', async (t) => {
  let arrive: (() => void) | undefined;
  let release: (() => void) | undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = await startTestServer(t, {
    handle: async (context) => {
      arrive?.();
      // Only now does the handler find out whom it worked for.
      await new Promise((resolve) => {
        context.signal.addEventListener('abort', resolve);
      });
      return {
        kind: 'stream',
        contentType: 'application/json',
        chunks: (async function* () {
          try {
            yield await Promise.resolve([Buffer.from('{}')]);
          } finally {
            release?.();
          }
        })(),
      };
    },
  });
  const request = https.get({
    host: '127.0.0.1',
    port: server.port,
    ca: server.ca,
    path: watchPath,
    headers: { authorization: 'Bearer admin' },
  });
  request.on('error', () => undefined);
  await arrived;
  request.destroy();
  await released;
});
