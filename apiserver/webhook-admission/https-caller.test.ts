import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import https from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { ensureCa } from '../pki/authority.js';
import type { ClientConfig } from './configuration.js';
import { HttpsWebhookCaller, webhookUrl } from './https-caller.js';
import { reviewOf } from './review.js';
import { request } from './testing/requests.js';
import { objectView } from './view.js';

interface Webhook {
  readonly caBundle: string;
  readonly port: number;
  readonly caller: HttpsWebhookCaller;
  readonly connections: () => number;
}

/** All names lead to this machine, as the cluster's DNS leads to its services. */
const toLoopback: LookupFunction = (_name, { all }, callback) => {
  if (all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};

async function start(t: TestContext, listener: RequestListener): Promise<Webhook> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-webhook-'));
  t.after(() => rm(directory, { recursive: true }));
  const authority = await ensureCa(directory);
  const names = {
    commonName: 'webhook',
    dnsNames: ['hook.policies.svc'],
    usages: ['server'] as const,
    days: 1,
  };
  const server = https.createServer(authority.issue({ ...names, usages: ['server'] }), listener);
  let connections = 0;
  server.on('secureConnection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = new HttpsWebhookCaller({ userAgent: 'test', lookup: toLoopback });
  t.after(() => {
    caller.close();
    server.close();
    server.closeAllConnections();
  });
  return {
    caBundle: Buffer.from(authority.cert).toString('base64'),
    // A listening TCP server has one of these.
    port: (server.address() as AddressInfo).port,
    caller,
    connections: () => connections,
  };
}

const review = reviewOf(request(), 'v1', objectView(request(), 'v1'), 'uid');
const service = { name: 'hook', namespace: 'policies', path: '/check' };

function call(
  { caBundle, port, caller }: Webhook,
  client: Partial<ClientConfig> = {},
  signal?: AbortSignal,
): Promise<unknown> {
  return caller.call({ service: { ...service, port }, caBundle, ...client }, review, 5, signal);
}

test('where webhooks are', () => {
  assert.equal(webhookUrl({ service: { name: 'a', namespace: 'b' } }).href, 'https://a.b.svc/');
  assert.equal(
    webhookUrl({ service: { ...service, port: 8443 } }).href,
    'https://hook.policies.svc:8443/check',
  );
  assert.equal(webhookUrl({ url: 'https://example.com/x' }).href, 'https://example.com/x');
  assert.throws(() => webhookUrl({ url: 'http://example.com' }), /must begin with https/);
  assert.throws(() => webhookUrl({}), /neither a url nor a service/);
});

test('a service is asked by its name, on a connection that is kept', async (t) => {
  const asked: unknown[] = [];
  const webhook = await start(t, (incoming, answer) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      asked.push(
        incoming.method,
        incoming.url,
        incoming.headers.host,
        JSON.parse(Buffer.concat(chunks).toString()),
      );
      answer.end('{"kind":"AdmissionReview"}');
    });
  });
  assert.deepEqual(await call(webhook), { kind: 'AdmissionReview' });
  assert.deepEqual(asked, [
    'POST',
    '/check?timeout=5s',
    `hook.policies.svc:${webhook.port}`,
    JSON.parse(JSON.stringify(review)),
  ]);
  await call(webhook);
  assert.equal(webhook.connections(), 1);
});

test('only the authority of the configuration counts, for the name of the service', async (t) => {
  const webhook = await start(t, (_incoming, answer) => answer.end('{}'));
  const { port } = webhook;
  await assert.rejects(call({ ...webhook, caBundle: '' }), /Post "https:\/\/hook.*: (self-signed|unable to)/);
  await assert.rejects(call(webhook, { service: { ...service, name: 'other', port } }), /altnames/);
  await call(webhook);
});

test('what is no answer fails the call, and says why', async (t) => {
  const webhook = await start(t, (incoming, answer) => {
    if (incoming.url?.startsWith('/refuse') === true) answer.writeHead(503).end('not today');
    else if (incoming.url?.startsWith('/html') === true) answer.end('<html>');
    else if (incoming.url?.startsWith('/long') === true) answer.end('x'.repeat(9 * 1024 * 1024));
    else if (incoming.url?.startsWith('/hang') === true) answer.flushHeaders();
    else answer.destroy();
  });
  const at = (path: string, signal?: AbortSignal): Promise<unknown> =>
    call(webhook, { service: { ...service, path, port: webhook.port } }, signal);
  await assert.rejects(at('/refuse'), /Post "https:\/\/hook.*": the webhook answered 503: not today/);
  await assert.rejects(at('/html'), /JSON/);
  await assert.rejects(at('/long'), /longer than 8388608 bytes/);
  await assert.rejects(at('/gone'), /socket hang up/);
  const leave = new AbortController();
  const hanging = at('/hang', leave.signal);
  leave.abort(new Error('the client has left'));
  await assert.rejects(hanging, /abort|left/);
  const { caller, caBundle, port } = webhook;
  const late = caller.call(
    { service: { ...service, path: '/hang', port }, caBundle },
    review,
    0.05,
    undefined,
  );
  await assert.rejects(late, /no answer within 0.05 s/);
});

test('a kept connection that the webhook has closed is replaced', async (t) => {
  const webhook = await start(t, (incoming, answer) => {
    answer.end('{}', () => {
      // Without a word: the client learns of it when it writes.
      incoming.socket.destroySoon();
    });
  });
  await call(webhook);
  await call(webhook);
  await call(webhook);
  assert.equal(webhook.connections(), 3);
});
