import test, { type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { isWebSocketHandshake, relay } from './websocket.js';

/** The two ends of one websocket; `near` is the server's. */
async function pair(
  t: TestContext,
  options: { autoPong?: boolean } = {},
): Promise<{ near: WebSocket; far: WebSocket }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const far = new WebSocket(`ws://127.0.0.1:${address.port}`, options);
  const [near] = (await once(server, 'connection')) as [WebSocket];
  if (far.readyState !== far.OPEN) await once(far, 'open');
  t.after(() => {
    near.terminate();
    far.terminate();
    server.close();
  });
  return { near, far };
}

test('both ends are pinged, and one that stopped answering is cut off', async (t) => {
  const client = await pair(t);
  const backend = await pair(t, { autoPong: false });
  const clientPinged = once(client.far, 'ping');
  const done = relay(client.near, backend.near, new AbortController().signal, { pingMs: 20 });
  await Promise.all([clientPinged, once(backend.far, 'ping')]);
  const [code] = (await once(client.far, 'close')) as [number];
  assert.equal(code, 1011);
  await done;
});

test('close codes go through, except those that may not be sent', async (t) => {
  for (const [sent, received] of [
    [1000, 1000],
    [4001, 4001],
    [undefined, 1000],
  ] as const) {
    const client = await pair(t);
    const backend = await pair(t);
    const done = relay(client.near, backend.near, new AbortController().signal);
    const closed = once(client.far, 'close');
    backend.far.close(sent, sent === undefined ? undefined : 'bye');
    const [code, reason] = (await closed) as [number, Buffer];
    assert.deepEqual([code, reason.toString()], [received, sent === undefined ? '' : 'bye']);
    await done;
  }
});

test('an end that does not read stops the other from being read', async (t) => {
  const client = await pair(t);
  const backend = await pair(t);
  const stop = new AbortController();
  const done = relay(client.near, backend.near, stop.signal);
  client.far.pause();
  let sent = 0;
  const message = Buffer.alloc(64 * 1024);
  const fill = new Promise<void>((resolve) => {
    const next = (): void => {
      sent++;
      if (sent === 1000) resolve();
      else backend.far.send(message, next);
    };
    next();
  });
  const first = await Promise.race([
    fill.then(() => 'all sent'),
    (async () => {
      while (!backend.near.isPaused) await new Promise((resolve) => setTimeout(resolve, 5));
      return 'paused';
    })(),
  ]);
  assert.equal(first, 'paused');
  client.far.resume();
  let received = 0;
  await new Promise<void>((resolve) => {
    client.far.on('message', () => {
      received++;
      if (received === 999) resolve();
    });
  });
  stop.abort();
  await done;
});

test('what is a handshake', () => {
  const request = (method: string, headers: http.IncomingHttpHeaders): http.IncomingMessage =>
    Object.assign(Object.create(http.IncomingMessage.prototype) as http.IncomingMessage, { method, headers });
  const headers = {
    upgrade: 'WebSocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  };
  assert.equal(isWebSocketHandshake(request('GET', headers)), true);
  assert.equal(isWebSocketHandshake(request('POST', headers)), false);
  assert.equal(isWebSocketHandshake(request('GET', { ...headers, upgrade: 'h2c' })), false);
  assert.equal(isWebSocketHandshake(request('GET', { ...headers, 'sec-websocket-version': '7' })), false);
  assert.equal(isWebSocketHandshake(request('GET', { ...headers, 'sec-websocket-key': 'short' })), false);
});
