import assert from 'node:assert/strict';
import test from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf } from '../../test/apiserver/test-server.js';

test('one page tells what is stored, what was asked, and what other parts of the process count', async (t) => {
  const others = new Registry();
  new Gauge({ name: 'workqueue_depth', help: 'h', labelNames: ['name'], registers: [others] }).set(
    { name: 'q' },
    3,
  );
  const server = await startNativeServer({ otherMetrics: [others] });
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  await request('GET', '/api/v1/namespaces', { token: 'admin' });
  const answer = await request('GET', '/metrics', { token: 'admin' });
  assert.match(answer.headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(answer.text, /^apiserver_storage_objects\{resource="namespaces"\} 2$/m);
  assert.match(answer.text, /^apiserver_request_total\{.*verb="LIST".*resource="namespaces".*\} 1$/m);
  assert.match(answer.text, /^workqueue_depth\{name="q"\} 3$/m);
  assert.equal((await request('GET', '/metrics', { token: 'bob' })).status, 403);
});
