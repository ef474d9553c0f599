import assert from 'node:assert/strict';
import test from 'node:test';
import { FlagError } from '../commands/flags.js';
import { guestsEndNow } from './guests-at-stop.js';
import { parseStandaloneOptions, type StandaloneOptions } from './options.js';

function parsed(...argv: string[]): StandaloneOptions {
  const options = parseStandaloneOptions(argv);
  assert.ok(options);
  return options;
}

test('how failures are tried again: client-go’s numbers, or those that are given', () => {
  assert.deepEqual(parsed().limits, { perSecond: 10, burst: 100, minimum: 5, maximum: 1_000_000 });
  const flags = ['--retries-per-second=50', '--retry-burst=500'];
  const delays = ['--retry-min-delay=20ms', '--retry-max-delay=2m'];
  assert.deepEqual(parsed(...flags, ...delays).limits, {
    perSecond: 50,
    burst: 500,
    minimum: 20,
    maximum: 120_000,
  });
  for (const wrong of [
    '--retries-per-second=0',
    '--retry-burst=many',
    '--retry-min-delay=0',
    '--retry-min-delay=30m',
    '--retry-max-delay=1ms',
    '--retry-max-delay=soon',
    '--retry-max-delay=25h',
  ])
    assert.throws(() => parsed(wrong), FlagError, wrong);
});

test('guests are left running, but when the machine goes down or the user wants it', async () => {
  const { guestsAtStop } = parsed();
  assert.deepEqual(guestsAtStop, { end: 'host-shutdown', gracePeriod: 60_000 });
  const state = (word: string | undefined) => () => Promise.resolve(word);
  assert.equal(await guestsEndNow(guestsAtStop, state('running')), false);
  assert.equal(await guestsEndNow(guestsAtStop, state(undefined)), false);
  assert.equal(await guestsEndNow(guestsAtStop, state('stopping')), true);
  const never = parsed('--end-guests=never').guestsAtStop;
  assert.equal(await guestsEndNow(never, state('stopping')), false);
  const always = parsed('--end-guests=always', '--shutdown-grace-period=5s').guestsAtStop;
  assert.equal(await guestsEndNow(always, state('running')), true);
  assert.equal(always.gracePeriod, 5000);
  assert.throws(() => parsed('--end-guests=sometimes'), /must be never, host-shutdown or always/);
});
