/** Malformed requests, made from a seed: whatever comes, the answer is a client error and no connection is lost. */
import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import tls from 'node:tls';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, startTestServer, type TestServer } from '../../test/apiserver/test-server.js';

const rounds = 300;

/** mulberry32: small, and the same on every machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'HEAD', 'BREW', 'get', ''];
const paths = [
  '/api/v1/namespaces/x/configmaps/a',
  '/apis/kubevirt.io/v1/namespaces/x/virtualmachines?watch=true&resourceVersion=abc',
  '/apis',
  '/openapi/v3/../../etc/passwd',
  '//api//v1',
  '/%',
  '/%00%ff',
  '*',
  'http://elsewhere.example.com/api/v1/configmaps',
  '/api/v1/configmaps?timeout=9999999999h&limit=-1&fieldSelector=metadata.name=%2e%2e',
  `/api/v1/${'a/'.repeat(300)}`,
  `/${'x'.repeat(9000)}`,
  '/readyz/../metrics',
  '/api/v1/namespaces/__proto__/configmaps/constructor',
];
const headers = [
  'Authorization: Bearer admin',
  'Authorization: Bearer',
  'Authorization: Basic YTpi',
  'Content-Type: application/json',
  'Content-Type: ;;;===',
  'Content-Type: application/json; charset=\u00ff',
  'Accept: text/csv;q=2,*/*;q=-1,;;',
  'Accept-Encoding: gzip;q=0, br',
  'Impersonate-Group: x',
  'Impersonate-User: ',
  'Impersonate-Extra-%zz: 1',
  'If-None-Match: "',
  'Traceparent: 00-zz-1-0',
  'Audit-Id: \u0080',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
  'Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.####',
  'Expect: 100-continue',
  'Expect: something',
  'X-Remote-User: admin',
  'Content-Encoding: gzip',
  'Content-Length: 5',
  'Content-Length: -5',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  `Cookie: ${'c'.repeat(20_000)}`,
  `X-Long: ${'l'.repeat(70_000)}`,
  'No colon here',
  ' Folded: value',
];
const bodies = [
  '',
  '{}',
  '{"a":',
  '\u0000\u0001',
  '5\r\nhello\r\n0\r\n\r\n',
  'zz\r\n',
  '['.repeat(5000),
  'x'.repeat(70_000),
];

function malformed(random: (below: number) => number): Buffer {
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? '';
  const lines = [
    `${pick(methods)} ${pick(paths)} ${random(12) === 0 ? 'HTTP/9.9' : 'HTTP/1.1'}`,
    'Host: localhost',
  ];
  for (let count = random(4); count > 0; count--) lines.push(pick(headers));
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${pick(bodies)}`, 'latin1');
  for (let count = random(3); count > 0; count--) bytes[random(bytes.length)] = random(256);
  return random(6) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
}

/** Sends the bytes and everything of its own end, and resolves with what came back once the server has closed too. */
async function exchange(server: TestServer, bytes: Buffer): Promise<string> {
  const socket = tls.connect({
    port: server.port,
    host: '127.0.0.1',
    ca: server.ca,
    servername: 'localhost',
  });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.end(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

test('malformed requests never get a 5xx, never end the server, and leave no connection open', async (t) => {
  const server = await startTestServer(t, { requestTimeoutMs: 2000 });
  const random = randomNumbers(20_260_102);
  for (let round = 0; round < rounds; round += 10) {
    const requests = Array.from({ length: 10 }, () => malformed(random));
    const answers = await Promise.all(requests.map((bytes) => exchange(server, bytes)));
    answers.forEach((answer, index) => {
      const sent = requests[index]?.subarray(0, 400).toString('latin1') ?? '';
      assert.doesNotMatch(answer, /^HTTP\/1\.1 5(?!05)/m, `round ${round}: ${sent}`);
    });
  }
  assert.equal((await server.request('GET', '/readyz')).text, 'ok');
  // The server hears of the last closed connections a moment after their clients.
  for (let wait = 0; server.server.openConnections > 0 && wait < 100; wait++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(server.server.openConnections, 0);
});

const core = '/api/v1/namespaces/default';
const actions = [
  `${core}/pods/p/eviction`,
  `${core}/pods/nope/eviction?dryRun=Some`,
  `${core}/serviceaccounts/s/token`,
  '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancereplicasets/r/scale?fieldManager=f',
  '/apis/subresources.kubevirt.io/v1/version',
  '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/v/start',
  '/openapi/v2',
];
const values = [
  ...['null', '[]', '""', '0', '-1', '1e400', 'true', '{}', '{"name":5}', '{"replicas":"x"}', '[[[]]]'],
  ...['{"gracePeriodSeconds":-1}', '{"expirationSeconds":1e30}', '{"audiences":[5]}', '"\\ud800"'],
  '{"boundObjectRef":{"kind":"__proto__","apiVersion":"v1"}}',
];
const kinds = [
  ...['"Eviction","apiVersion":"policy/v1"', '"Scale","apiVersion":"autoscaling/v1"', '"Pod"', 'null'],
  '"TokenRequest","apiVersion":"authentication.k8s.io/v1"',
];
const members = ['metadata', 'spec', 'deleteOptions', 'status', '__proto__'];
const mediaTypes = [
  ...['application/json', 'application/yaml', 'application/apply-patch+yaml', 'application/json-patch+json'],
  ...['application/merge-patch+json', 'application/vnd.kubernetes.protobuf', 'text/plain'],
];

test('bodies that make no sense to an action are refused, and the server stays well', async (t) => {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } };
  const headers = { 'content-type': 'application/json' };
  const made = { token: 'admin', headers, body: JSON.stringify(account) };
  assert.equal((await request('POST', `${core}/serviceaccounts`, made)).status, 201);
  const random = randomNumbers(20_260_103);
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? '';
  for (let round = 0; round < rounds; round++) {
    const [method, path] = [pick(['POST', 'PUT', 'PATCH', 'GET']), pick(actions)];
    const body = `{"kind":${pick(kinds)},"${pick(members)}":${pick(values)},"${pick(members)}":${pick(values)}}`;
    const type = { 'content-type': pick(mediaTypes), accept: pick([...mediaTypes, '*/*']) };
    const { status } = await request(method, path, { token: 'admin', headers: type, body });
    assert.ok(status < 500, `${status} to ${method} ${path} of ${type['content-type']}: ${body}`);
  }
  assert.equal((await request('GET', '/readyz')).text, 'ok');
});
