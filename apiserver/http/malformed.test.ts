import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import test from 'node:test';
import { refuseMalformed } from './malformed.js';

/** What a server answers to bytes that are no whole request, and closes behind. */
async function answerTo(t: test.TestContext, bytes: string): Promise<{ head: string; body: unknown }> {
  const server = createServer({ headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 });
  server.on('clientError', refuseMalformed);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.write(bytes);
  await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { head, body: JSON.parse(body) };
}

test('a request that does not arrive is a timeout, in a Status', async (t) => {
  const { head, body } = await answerTo(t, 'GET / HTTP/1.1\r\nHost: x\r\n');
  assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  assert.deepEqual(body, {
    ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
    ...{ message: 'the request did not arrive in time', reason: 'Timeout', code: 408 },
  });
});

test('a head that is too large, and what is no HTTP', async (t) => {
  const large = await answerTo(t, `GET / HTTP/1.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
  assert.match(large.head, /^HTTP\/1\.1 431 /);
  const wrong = await answerTo(t, 'hello\r\n\r\n');
  assert.match(wrong.head, /^HTTP\/1\.1 400 /);
  assert.equal((wrong.body as { reason: string }).reason, 'BadRequest');
});
