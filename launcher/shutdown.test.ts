import assert from 'node:assert/strict';
import test from 'node:test';
import { ManualClock } from '../test/fake-qemu/manual-clock.js';
import { Shutdown } from './shutdown.js';

function setup() {
  const clock = new ManualClock();
  const log: string[] = [];
  const shutdown = new Shutdown({ press: () => log.push('press'), kill: () => log.push('kill') }, clock);
  return { clock, log, shutdown };
}

test('the button is pressed again until the time is up', () => {
  const { clock, log, shutdown } = setup();
  shutdown.within(12_000);
  clock.advance(11_999);
  assert.deepEqual(log, ['press', 'press', 'press']);
  clock.advance(1);
  assert.equal(log.at(-1), 'kill');
  assert.equal(clock.pending, 0);
});

test('a guest that powers off in time is not killed', () => {
  const { clock, log, shutdown } = setup();
  shutdown.within(12_000);
  shutdown.cancel();
  clock.advance(60_000);
  assert.deepEqual(log, ['press']);
});

test('asking again can only shorten the time', () => {
  const { clock, log, shutdown } = setup();
  shutdown.within(30_000);
  shutdown.within(60_000);
  shutdown.within(2000);
  clock.advance(2000);
  assert.deepEqual(log, ['press', 'kill']);
  shutdown.within(0);
  assert.deepEqual(log, ['press', 'kill']);
});

test('no time at all is a kill without the button', () => {
  const { log, shutdown } = setup();
  shutdown.within(0);
  assert.deepEqual(log, ['kill']);
});
