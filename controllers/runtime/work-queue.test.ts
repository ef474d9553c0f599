import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from './rate-limiter.js';
import { FakeClock } from './testing/fake-clock.js';
import { WorkQueue } from './work-queue.js';

test('a key waits once, in the order of its first adding', async () => {
  const queue = new WorkQueue(new FakeClock());
  for (const key of ['a', 'b', 'a']) queue.add(key);
  assert.equal(queue.length, 2);
  assert.equal(await queue.take(), 'a');
  assert.equal(await queue.take(), 'b');
  assert.equal(queue.length, 0);
});

test('a key that is added while it is worked on comes again afterwards, not at the same time', async () => {
  const queue = new WorkQueue(new FakeClock());
  queue.add('a');
  const key = await queue.take();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.length, 0);
  queue.done(key ?? '');
  assert.equal(queue.length, 1);
});

test('of several delays the shortest counts', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue(clock);
  queue.addAfter('a', 1000);
  queue.addAfter('a', 100);
  queue.addAfter('a', 500);
  await clock.advance(99);
  assert.equal(queue.length, 0);
  await clock.advance(1);
  assert.equal(queue.length, 1);
  await queue.take();
  queue.done('a');
  await clock.advance(5000);
  assert.equal(queue.length, 0);
});

test('failures of a key wait ever longer, until it works', () => {
  const queue = new WorkQueue(new FakeClock());
  assert.deepEqual(
    [1, 2, 3, 4].map(() => queue.addRateLimited('a')),
    [5, 10, 20, 40],
  );
  assert.equal(queue.addRateLimited('b'), 5);
  assert.equal(queue.failures('a'), 4);
  queue.forget('a');
  assert.equal(queue.addRateLimited('a'), 5);
});

test('over all keys only so many failures a second are retried', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue(clock, { perSecond: 10, burst: 3 });
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.addRateLimited(key);
  const lengths: number[] = [];
  for (const ms of [5, 100, 100]) {
    await clock.advance(ms);
    lengths.push(queue.length);
  }
  assert.deepEqual(lengths, [3, 4, 5]);
});

test('a namespace whose keys all fail does not delay the first retry of another', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue(clock, { perSecond: 10, burst: 10 });
  for (let index = 0; index < 1000; index++) queue.addRateLimited(`storm/${index}`);
  await clock.advance(1000);
  queue.addRateLimited('calm/vm');
  const seen: string[] = [];
  await clock.advance(300);
  while (queue.length > 0) seen.push((await queue.take()) ?? '');
  assert.ok(seen.includes('calm/vm'));
  assert.ok(seen.length < 30);
});

test('a conflict says nothing of the server: its retry takes no token', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue(clock, { perSecond: 1, burst: 1 });
  for (const key of ['a', 'b', 'c']) queue.addBackedOff(key);
  await clock.advance(5);
  assert.equal(queue.length, 3);
});

test('what comes back by itself takes no token any more', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue(clock, { perSecond: 1, burst: 1 });
  queue.addRateLimited('a');
  queue.addRateLimited('b');
  await clock.advance(5);
  queue.add('b');
  assert.equal(queue.length, 2);
  assert.deepEqual([await queue.take(), await queue.take()], ['a', 'b']);
  queue.done('a');
  queue.done('b');
  await clock.advance(10_000);
  assert.equal(queue.length, 0);
});

test('namespaces take turns', async () => {
  const queue = new WorkQueue(new FakeClock());
  for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'b/2']) queue.add(key);
  const order: string[] = [];
  while (queue.length > 0) order.push((await queue.take()) ?? '');
  assert.deepEqual(order, ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3']);
});

test('keys of low priority come last, but they do come', async () => {
  const queue = new WorkQueue(new FakeClock());
  for (let index = 0; index < 20; index++) queue.add(`low/${index}`, 'low');
  for (let index = 0; index < 20; index++) queue.add(`normal/${index}`);
  queue.add('low/19');
  const order: string[] = [];
  while (queue.length > 0) order.push((await queue.take()) ?? '');
  assert.equal(order.length, 40);
  assert.equal(order.slice(0, 8).filter((key) => key.startsWith('normal/')).length, 6);
  assert.ok(order.indexOf('low/19') <= 1, 'one that is added again with a higher priority has it');
});

test('a token bucket fills with time, up to its burst', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 2, 2);
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [true, true, false]);
  await clock.advance(500);
  assert.deepEqual([bucket.take(), bucket.take()], [true, false]);
  await clock.advance(60_000);
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [true, true, false]);
});

test('closing ends those who wait, and drops what is delayed', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue(clock);
  const waiting = [queue.take(), queue.take()];
  queue.addAfter('a', 100);
  queue.close();
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  assert.equal(clock.nextTimer, undefined);
  queue.add('b');
  assert.equal(await queue.take(), undefined);
});

test('no key is lost and none is worked on twice at once, whatever the order', async () => {
  const command = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('done' as const), index: fc.nat(5) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
      const queue = new WorkQueue(new FakeClock());
      const inWork: string[] = [];
      const owed = new Set<string>();
      for (const step of commands) {
        if (step.do === 'add') {
          owed.add(step.key);
          queue.add(step.key);
        } else if (step.do === 'take' && queue.length > 0) {
          const key = (await queue.take()) ?? '';
          assert.ok(!inWork.includes(key), `${key} is worked on twice`);
          inWork.push(key);
          owed.delete(key);
        } else if (step.do === 'done' && inWork.length > 0) {
          const [key = ''] = inWork.splice(step.index % inWork.length, 1);
          queue.done(key);
        }
      }
      for (const key of inWork.splice(0)) queue.done(key);
      const left: string[] = [];
      while (queue.length > 0) left.push((await queue.take()) ?? '');
      assert.deepEqual(left.sort(), [...owed].sort());
    }),
  );
});
