import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { WatchEvent } from './client.js';
import { ConnectionError, StatusError, isNotFound } from './errors.js';
import { createHttpClient, type HttpClient, type HttpClientOptions } from './http-client.js';
import { nodes, pods } from './kinds.js';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

type Answer = (response: ServerResponse, request: Seen) => void;

async function serve(
  t: TestContext,
  answer: Answer,
  options: Partial<HttpClientOptions> = {},
): Promise<{ client: HttpClient; seen: Seen[]; server: Server }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      const entry = { method, url, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
      seen.push(entry);
      answer(response, entry);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createHttpClient({
    server: `http://127.0.0.1:${port}`,
    credentials: () => Promise.resolve({ authorization: 'Bearer secret' }),
    fieldManager: 'tester',
    ...options,
  });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return { client, seen, server };
}

const json =
  (value: unknown, code = 200): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };

const key = { namespace: 'ns', name: 'a b' };

test('each verb makes one request of the shape that an API server expects', async (t) => {
  const { client, seen } = await serve(t, json({ metadata: {}, items: [] }));
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ns', name: 'p' } };
  await client.get(pods, key);
  await client.list(pods, { namespace: 'ns', limit: 5, labelSelector: 'a=b' });
  await client.list(nodes);
  await client.create(pods, object);
  await client.patch(pods, key, { type: 'merge', body: { a: null } }, 'status');
  await client.patch(pods, key, { type: 'json', body: [] });
  await client.patch(pods, key, { type: 'apply', body: {}, force: true });
  await client.delete(pods, key, { gracePeriodSeconds: 0, preconditions: { uid: 'u' } });
  await client.post(pods, key, 'POST', 'binding', { target: { name: 'n' } });
  assert.deepEqual(
    seen.map(({ method, url }) => `${method} ${url}`),
    [
      'GET /api/v1/namespaces/ns/pods/a%20b',
      'GET /api/v1/namespaces/ns/pods?limit=5&labelSelector=a%3Db',
      'GET /api/v1/nodes',
      'POST /api/v1/namespaces/ns/pods?fieldManager=tester',
      'PATCH /api/v1/namespaces/ns/pods/a%20b/status?fieldManager=tester',
      'PATCH /api/v1/namespaces/ns/pods/a%20b?fieldManager=tester',
      'PATCH /api/v1/namespaces/ns/pods/a%20b?fieldManager=tester&force=true',
      'DELETE /api/v1/namespaces/ns/pods/a%20b',
      'POST /api/v1/namespaces/ns/pods/a%20b/binding?fieldManager=tester',
    ],
  );
  assert.deepEqual(
    seen.map(({ headers }) => headers['content-type']).filter((type) => type !== undefined),
    [
      'application/json',
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/apply-patch+yaml',
      'application/json',
      'application/json',
    ],
  );
  assert.ok(seen.every(({ headers }) => headers.authorization === 'Bearer secret'));
  assert.deepEqual(seen[7]?.body, {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    preconditions: { uid: 'u' },
  });
});

test('items of a list say what they are', async (t) => {
  const { client } = await serve(t, json({ metadata: {}, items: [{ metadata: { name: 'a' } }] }));
  const [item] = (await client.list(pods, { namespace: 'ns' })).items;
  assert.deepEqual(item, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } });
});

test('a refusal is a StatusError with the reason of the server', async (t) => {
  const status = { kind: 'Status', reason: 'NotFound', message: 'pods "x" not found', code: 404 };
  const { client } = await serve(t, json(status, 404));
  await assert.rejects(
    client.get(pods, key),
    (error) => isNotFound(error) && error.message === status.message,
  );
});

test('Retry-After is passed on, also by answers that are no Status', async (t) => {
  const { client } = await serve(t, (response) => {
    response.writeHead(429, { 'retry-after': '7' });
    response.end('slow down');
  });
  await assert.rejects(client.get(pods, key), (error) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.reason, 'TooManyRequests');
    assert.equal(error.retryAfterSeconds, 7);
    return true;
  });
});

test('no answer, and an answer that is not JSON, are ConnectionErrors', async (t) => {
  const { client } = await serve(t, (response, { url }) => {
    if (url.includes('nodes')) response.end('<html>');
    else response.destroy();
  });
  await assert.rejects(client.get(pods, key), ConnectionError);
  await assert.rejects(client.get(nodes, { name: 'n' }), ConnectionError);
});

test('an answer that does not come in time is given up', async (t) => {
  const { client } = await serve(t, () => undefined, { requestTimeout: 30 });
  await assert.rejects(client.get(pods, key), /nothing came for 0.03 s/);
});

test('an aborted call rejects with the reason of its signal', async (t) => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const { client } = await serve(t, () => {
    controller.abort(reason);
  });
  await assert.rejects(client.get(pods, key, controller.signal), (error) => error === reason);
});

test('a read is sent again when the kept connection turns out to be closed', async (t) => {
  let answers = 0;
  const { client, seen } = await serve(t, (response) => {
    answers += 1;
    if (answers === 2) response.socket?.destroy();
    else json({ metadata: {} })(response, { method: '', url: '', headers: {}, body: undefined });
  });
  await client.get(pods, key);
  await client.get(pods, key);
  assert.equal(seen.length, 3);
});

const event = (type: string, version: string): string =>
  `${JSON.stringify({ type, object: { metadata: { name: 'a', namespace: 'ns', resourceVersion: version } } })}\n`;

test('bursts share a few connections that stay open, and a watch does not wait for them', async (t) => {
  const held: (() => void)[] = [];
  const { client, server } = await serve(t, (response, request) => {
    if (request.url.includes('watch=')) response.writeHead(200).end();
    else {
      held.push(() => json({ metadata: {}, items: [] })(response, request));
      server.emit('held');
    }
  });
  let connections = 0;
  server.on('connection', () => (connections += 1));
  for (let round = 0; round < 2; round++) {
    const burst = Promise.all(Array.from({ length: 48 }, () => client.list(nodes)));
    for (let sent = 0; sent < 3; sent++) {
      while (held.length < 16) await once(server, 'held');
      if (sent === 0) await read(client.watch(pods, { resourceVersion: '1' }));
      for (const answer of held.splice(0)) answer();
    }
    await burst;
  }
  assert.equal(connections, 17);
});

async function read(source: AsyncIterable<WatchEvent<Pod>>): Promise<string[]> {
  const types: string[] = [];
  for await (const each of source) types.push(each.type);
  return types;
}

test('a watch yields what is streamed, asks for bookmarks, and ends with the stream', async (t) => {
  const { client, seen } = await serve(t, (response) => {
    response.write(event('ADDED', '2'));
    response.write(event('BOOKMARK', '3').slice(0, 20));
    response.end(event('BOOKMARK', '3').slice(20));
  });
  const types = await read(client.watch(pods, { resourceVersion: '1', timeoutSeconds: 300 }));
  assert.deepEqual(types, ['ADDED', 'BOOKMARK']);
  assert.equal(
    seen[0]?.url,
    '/api/v1/pods?resourceVersion=1&timeoutSeconds=300&watch=true&allowWatchBookmarks=true',
  );
});

test('a silent watch is taken for dead', async (t) => {
  const { client } = await serve(t, (response) => void response.write(event('ADDED', '2')), {
    watchInactivityTimeout: 50,
  });
  await assert.rejects(read(client.watch(pods, { resourceVersion: '1' })), ConnectionError);
});

test('leaving a watch closes its connection', async (t) => {
  const closed = new Promise<void>((resolve, reject) => {
    serve(t, (response) => {
      response.write(event('ADDED', '2'));
      response.on('close', resolve);
    })
      .then(async ({ client }) => {
        for await (const each of client.watch(pods, { resourceVersion: '1' })) {
          assert.equal(each.type, 'ADDED');
          break;
        }
      })
      .catch(reject);
  });
  await closed;
});

test('changed credentials are used without a restart', async (t) => {
  let token = 'one';
  const { client, seen } = await serve(t, json({ metadata: {} }), {
    credentials: () => Promise.resolve({ authorization: `Bearer ${token}` }),
  });
  await client.get(pods, key);
  token = 'two';
  await client.get(pods, key);
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    ['Bearer one', 'Bearer two'],
  );
});

test('an object of a namespaced kind needs its namespace', async (t) => {
  const { client } = await serve(t, json({}));
  await assert.rejects(client.get(pods, { name: 'a' }), /a Pod needs a namespace/);
});
