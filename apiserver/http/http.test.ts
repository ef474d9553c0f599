import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { Exchange } from './exchange.js';
import { RequestScope } from './request-scope.js';
import { childTraceparent, parseTraceparent } from './trace-context.js';
import { acceptsGzip, batches, warningHeader, writeReply } from './write-reply.js';

test('a scope tells late listeners too, and only the first reason counts', async () => {
  const scope = new RequestScope();
  const racing = scope.race(new Promise(() => undefined));
  const first = new Error('first');
  scope.abort(first);
  scope.abort(new Error('second'));
  await assert.rejects(racing, first);
  assert.equal(scope.signal.reason, first);
  await assert.rejects(scope.race(Promise.resolve(1)), first);
});

test('trace context: what keeps to the specification goes on, with a span of our own', () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const header = `00-${trace}-b7ad6b7169203331-01`;
  const parsed = parseTraceparent(header);
  assert.deepEqual(parsed, { traceId: trace, parentId: 'b7ad6b7169203331', sampled: true });
  const child = childTraceparent(parsed);
  assert.match(child, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  assert.notEqual(child, header);
  const broken = [
    undefined,
    '',
    `ff-${trace}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `${header}-more`,
    header.toUpperCase(),
  ];
  for (const text of broken) assert.equal(parseTraceparent(text), undefined, text);
});

test('gzip only for those who take it', () => {
  assert.equal(acceptsGzip('gzip'), true);
  assert.equal(acceptsGzip('br, GZIP;q=0.5'), true);
  assert.equal(acceptsGzip('gzip;q=0'), false);
  assert.equal(acceptsGzip('gzip; q=0.0'), false);
  assert.equal(acceptsGzip('x-gzip'), false);
  assert.equal(acceptsGzip(undefined), false);
});

test('batches hold the same bytes in the same order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 12 }), (sizes) => {
      const chunks = sizes.map((size, index) => Buffer.alloc(size, index));
      const merged = [...batches(chunks)];
      assert.ok(Buffer.concat(merged).equals(Buffer.concat(chunks)));
      assert.ok(merged.length <= chunks.length);
    }),
    { numRuns: 30 },
  );
});

test('a stream comes whole, chunk by chunk or in frames, and leaves an HTTP/1.1 connection open', async (t) => {
  const line = Buffer.from('shared\n');
  const batchesSent = [[line], [line, line], Array.from({ length: 50 }, () => line), []];
  const expected = 'shared\n'.repeat(53);
  const server = createServer((request, response) => {
    const chunks = Readable.from(batchesSent, { objectMode: true }) as AsyncIterable<Buffer[]>;
    void writeReply(new Exchange(request, response, undefined), {
      kind: 'stream',
      contentType: 'text/plain',
      chunks,
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  // The address of a server that listens on a port.
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    agent.destroy();
  });
  const sockets = new Set<unknown>();
  for (let request = 0; request < 2; request++) {
    const [response] = (await once(get({ port, agent }), 'response')) as [IncomingMessage];
    sockets.add(response.socket);
    assert.equal(await text(response), expected);
  }
  assert.equal(sockets.size, 1);

  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.0\r\n\r\n');
  const answer = await text(socket);
  assert.equal(answer.slice(answer.indexOf('\r\n\r\n') + 4), expected);
});

test('a warning is one header, whatever its text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const header = warningHeader(text);
      assert.match(header, /^299 - "(?:[^"\\]|\\.)*"$/s);
      assert.doesNotMatch(header, /[\r\n\0]/);
    }),
  );
});
