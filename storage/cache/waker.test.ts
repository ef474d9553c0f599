import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'node:test';
import { Waker } from './waker.js';
import type { Watcher } from './watcher.js';

/** Counts how often it is woken, and says so to whoever waits for that. */
function watcher() {
  let woken = 0;
  let told: () => void = () => undefined;
  // Nothing else of a watcher is used here.
  const self = {
    flush: () => {
      woken++;
      told();
    },
  } as unknown as Watcher;
  return {
    self,
    woken: () => woken,
    next: () =>
      new Promise<void>((resolve) => {
        told = resolve;
      }),
  };
}

test('the first change is told at once, those that follow together', async () => {
  const waker = new Waker(50);
  const reader = watcher();
  waker.wake(reader.self);
  waker.wake(reader.self);
  await turn();
  assert.equal(reader.woken(), 1);
  const later = reader.next();
  waker.wake(reader.self);
  waker.wake(reader.self);
  await turn();
  assert.equal(reader.woken(), 1, 'it was woken a moment ago');
  await later;
  assert.equal(reader.woken(), 2);
});

test('one reader does not wait for what another was told', async () => {
  const waker = new Waker(60_000);
  const [one, two] = [watcher(), watcher()];
  waker.wake(one.self);
  await turn();
  waker.wake(two.self);
  await turn();
  assert.deepEqual([one.woken(), two.woken()], [1, 1]);
});

test('without a moment to wait, each turn of the event loop tells what it has', async () => {
  const waker = new Waker(0);
  const reader = watcher();
  for (let count = 1; count <= 3; count++) {
    waker.wake(reader.self);
    await turn();
    assert.equal(reader.woken(), count);
  }
});

test('many readers are told less often', async () => {
  const waker = new Waker(10);
  const readers = Array.from({ length: 60 }, watcher);
  const wake = (): void => {
    for (const { self } of readers) waker.wake(self);
  };
  const woken = (): number => readers.reduce((sum, each) => sum + each.woken(), 0);
  wake();
  await turn();
  assert.equal(woken(), 60);
  const told = readers.at(-1)?.next();
  wake();
  const begin = performance.now();
  await told;
  assert.equal(woken(), 120);
  assert.ok(performance.now() - begin > 25, 'three moments');
});
