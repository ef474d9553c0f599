import assert from 'node:assert/strict';
import test from 'node:test';
import { configMaps } from './kinds.js';
import { RequestRate, rateLimited } from './request-rate.js';
import { FakeClient } from './testing/fake-client.js';
import { FakeClock, settle } from './testing/fake-clock.js';

function limited(qps: number, burst: number) {
  const clock = new FakeClock();
  const rate = new RequestRate(clock);
  rate.change({ qps, burst });
  return { clock, rate };
}

test('so many at once, then so many a second, in the order in which they came', async () => {
  const { clock, rate } = limited(2, 3);
  const gone: number[] = [];
  for (let i = 0; i < 6; i++) void rate.pass().then(() => gone.push(i));
  await settle();
  assert.deepEqual(gone, [0, 1, 2]);
  await clock.advance(500);
  assert.deepEqual(gone, [0, 1, 2, 3]);
  await clock.advance(1000);
  assert.deepEqual(gone, [0, 1, 2, 3, 4, 5]);
});

test('a new limit counts for those who wait, too; one that lets nobody pass is none', async () => {
  for (const change of [undefined, { qps: 1000, burst: 1000 }, { qps: 0, burst: 0 }]) {
    const { rate } = limited(1, 1);
    await rate.pass();
    const waiting = rate.pass();
    rate.change(change);
    await waiting;
  }
});

test('who gives up leaves the queue', async () => {
  const { clock, rate } = limited(1, 1);
  await rate.pass();
  const leaving = new AbortController();
  const left = rate.pass(leaving.signal);
  const next = rate.pass();
  leaving.abort(new Error('too late'));
  await assert.rejects(left, /too late/);
  await clock.advance(1000);
  await next;
  await assert.rejects(rate.pass(leaving.signal), /too late/);
});

test('reads, watches and writes wait for their turn', async () => {
  const { clock, rate } = limited(1, 1);
  const fake = new FakeClient(clock);
  const client = rateLimited(fake, rate);
  const key = { namespace: 'default', name: 'a' };
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
  const stop = new AbortController();
  const events = client.watch(configMaps, { resourceVersion: '0' }, stop.signal)[Symbol.asyncIterator]();
  const found = client.get(configMaps, key);
  const first = events.next();
  const body = { data: { a: 'b' } };
  const patched = client.patch(configMaps, key, { type: 'merge', body });
  await clock.advance(1000);
  assert.equal((await found).metadata.name, 'a');
  await clock.advance(1000);
  assert.equal((await first).done, false);
  assert.equal(fake.writes.length, 1);
  await clock.advance(1000);
  await patched;
  assert.equal(fake.writes.length, 2);
  stop.abort();
});
