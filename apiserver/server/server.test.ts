import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import tls from 'node:tls';
import { notFound } from '../errors/api-error.js';
import { jsonReply } from '../http/status-reply.js';
import { startTestServer } from '../../test/apiserver/test-server.js';

test('serves a resource to whom a token names', async (t) => {
  const server = await startTestServer(t);
  const answer = await server.request('GET', '/api/v1/namespaces/x/configmaps/a', { token: 'admin' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.json().name, 'a');
});

const refusals: readonly (readonly [string, string, number, string])[] = [
  ['GET', '/api/v1/namespaces/x/configmaps/missing', 404, 'NotFound'],
  ['OPTIONS', '/api/v1/namespaces/x/configmaps', 405, 'MethodNotAllowed'],
  ['PROPFIND', '/api/v1/namespaces/x/configmaps', 405, 'MethodNotAllowed'],
  ['POST', '/version', 405, 'MethodNotAllowed'],
  ['GET', '/api/v1/%zz', 400, 'BadRequest'],
  ['GET', '/api/v1/namespaces//configmaps', 400, 'BadRequest'],
  ['GET', '/api/v1/configmaps?timeout=soon', 400, 'BadRequest'],
];

test('refusals are Statuses', async (t) => {
  const server = await startTestServer(t);
  for (const [method, path, code, reason] of refusals) {
    const answer = await server.request(method, path, { token: 'admin' });
    assert.equal(answer.status, code, `${method} ${path}`);
    const status = answer.json();
    assert.deepEqual(
      [status.kind, status.code, status.reason],
      ['Status', code, reason],
      `${method} ${path}`,
    );
  }
});

test('what no path serves is plain text, so that it is not taken for a missing object', async (t) => {
  const server = await startTestServer(t);
  for (const path of [
    '/nope',
    '/apis/nope.example.com/v1/things',
    '/api/v1/nonsense',
    '/api/v7/configmaps',
  ]) {
    const answer = await server.request('GET', path, { token: 'admin' });
    assert.deepEqual([answer.status, answer.text], [404, '404 page not found\n'], path);
    assert.match(answer.headers['content-type'] ?? '', /^text\/plain/);
  }
});

test('a body over 3 MiB is 413, whether it says so or not, and 3 MiB pass', async (t) => {
  const server = await startTestServer(t);
  const path = '/api/v1/namespaces/x/configmaps';
  const limit = 3 * 1024 * 1024;
  const declared = await server.request('POST', path, { token: 'admin', body: Buffer.alloc(limit + 1) });
  assert.deepEqual([declared.status, declared.json().reason], [413, 'RequestEntityTooLarge']);
  const chunked = await server.request('POST', path, {
    token: 'admin',
    body: Buffer.alloc(limit + 1),
    headers: { 'transfer-encoding': 'chunked' },
  });
  assert.equal(chunked.status, 413);
  const fits = await server.request('POST', path, { token: 'admin', body: Buffer.alloc(limit) });
  assert.deepEqual([fits.status, fits.json().bytes], [201, limit]);
});

test('an encoded body is 415', async (t) => {
  const server = await startTestServer(t);
  const answer = await server.request('POST', '/api/v1/namespaces/x/configmaps', {
    token: 'admin',
    body: Buffer.from('{}'),
    headers: { 'content-encoding': 'gzip' },
  });
  assert.deepEqual([answer.status, answer.json().reason], [415, 'UnsupportedMediaType']);
});

test('bytes that are no HTTP get a Status and a closed connection', async (t) => {
  const server = await startTestServer(t);
  const socket = tls.connect({
    port: server.port,
    host: '127.0.0.1',
    ca: server.ca,
    servername: 'localhost',
  });
  await once(socket, 'secureConnect');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write('this is not HTTP\r\n\r\n');
  await once(socket, 'close');
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 400 [\s\S]*"kind":"Status"/);
});

test('only HTTP/1.1 is offered', async (t) => {
  const server = await startTestServer(t);
  const socket = tls.connect({
    port: server.port,
    host: '127.0.0.1',
    ca: server.ca,
    servername: 'localhost',
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  assert.equal(socket.alpnProtocol, 'http/1.1');
});

test('warnings, audit id and caching are in the head of the answer', async (t) => {
  const server = await startTestServer(t, {
    handle: (context) => {
      context.warn('old "version"\r\nX-Injected: yes');
      context.warn('second');
      return Promise.resolve(jsonReply({}));
    },
  });
  const answer = await server.request('GET', '/api/v1/configmaps', {
    token: 'admin',
    headers: { 'audit-id': 'abc-1' },
  });
  assert.equal(answer.headers['audit-id'], 'abc-1');
  assert.equal(answer.headers['cache-control'], 'no-cache, private');
  assert.equal(answer.headers['x-injected'], undefined);
  assert.deepEqual(answer.distinct.warning, ['299 - "old \\"version\\" X-Injected: yes"', '299 - "second"']);
});

test('a fault of ours is a 500 Status and does not end the server', async (t) => {
  const server = await startTestServer(t, {
    handle: () => Promise.reject(new TypeError('a bug')),
  });
  for (let round = 0; round < 2; round++) {
    const answer = await server.request('GET', '/api/v1/configmaps', { token: 'admin' });
    assert.deepEqual([answer.status, answer.json().reason], [500, 'InternalError']);
  }
});

test('large answers arrive whole, as many chunks, compressed or not', async (t) => {
  const chunks = Array.from({ length: 3000 }, (_, index) => Buffer.from(`${'x'.repeat(500)}${index},`));
  const server = await startTestServer(t, {
    handle: () => Promise.resolve({ kind: 'bytes', status: 200, contentType: 'application/json', chunks }),
  });
  const whole = Buffer.concat(chunks).toString();
  const plain = await server.request('GET', '/api/v1/configmaps', { token: 'admin' });
  assert.ok(plain.text === whole);
  assert.equal(plain.headers['content-length'], String(whole.length));
  const packed = await server.request('GET', '/api/v1/configmaps', {
    token: 'admin',
    headers: { 'accept-encoding': 'gzip' },
  });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.ok(packed.text === whole);
});

test('a request that takes too long is 504, and its work is told to stop', async (t) => {
  let stopped = false;
  const server = await startTestServer(t, {
    handle: (context) =>
      new Promise((_resolve, reject) => {
        context.signal.addEventListener('abort', () => {
          stopped = true;
          reject(notFound('', 'configmaps', 'late'));
        });
      }),
  });
  const answer = await server.request('GET', '/api/v1/configmaps?timeout=20ms', { token: 'admin' });
  assert.deepEqual([answer.status, answer.json().reason], [504, 'Timeout']);
  assert.equal(stopped, true);
});
