import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { FakeClock } from '../../../controllers/runtime/testing/fake-clock.js';
import type { Probe } from '../../../openapi/generated/types/core_v1.js';
import { runProber } from './prober.js';

/** A prober whose checks fail where `outcomes` says so; later ones repeat the last. */
function prober(t: TestContext, probe: Probe, initial: boolean, outcomes: readonly (string | undefined)[]) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const seen: string[] = [];
  const begin = clock.monotonic();
  const at = (what: string) => void seen.push(`${(clock.monotonic() - begin) / 1000} ${what}`);
  let checks = 0;
  const running = runProber(
    {
      probe,
      clock,
      initial,
      startedAt: clock.now(),
      check() {
        const failure = outcomes[Math.min(checks++, outcomes.length - 1)];
        at('check');
        return failure === undefined ? Promise.resolve() : Promise.reject(new Error(failure));
      },
      onFailure: (reason) => at(`failure: ${reason}`),
      onChange: (succeeds) => at(succeeds ? 'ready' : 'unready'),
    },
    stop.signal,
  );
  t.after(async () => {
    stop.abort();
    await running;
  });
  return { clock, seen, stop, running };
}

test('begins after the delay, repeats each period, and needs so many of one kind in a row', async (t) => {
  const probe = { initialDelaySeconds: 5, periodSeconds: 2, failureThreshold: 2, successThreshold: 2 };
  const bad = 'no route';
  const { clock, seen } = prober(t, probe, false, [bad, undefined, undefined, bad, undefined, bad, bad]);
  await clock.advance(18_000);
  assert.deepEqual(seen, [
    '5 check',
    '5 failure: no route',
    '7 check',
    '9 check',
    '9 ready',
    '11 check',
    '11 failure: no route',
    '13 check',
    '15 check',
    '15 failure: no route',
    '17 check',
    '17 unready',
  ]);
});

test('Kubernetes’ defaults: every 10 s, three failures, one success', async (t) => {
  const { clock, seen } = prober(t, {}, true, ['x', 'x', 'x', undefined]);
  await clock.advance(30_000);
  assert.deepEqual(seen, [
    ...['0 check', '0 failure: x', '10 check', '20 check', '20 unready'],
    ...['30 check', '30 ready'],
  ]);
});

test('a check without an answer in time has failed', async (t) => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const failures: string[] = [];
  const running = runProber(
    {
      probe: { timeoutSeconds: 3 },
      clock,
      initial: true,
      startedAt: clock.now(),
      check: (signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
        ),
      onFailure: (reason) => failures.push(reason),
      onChange: () => undefined,
    },
    stop.signal,
  );
  t.after(() => running);
  await clock.advance(3000);
  assert.deepEqual(failures, ['no answer in 3 s']);
  stop.abort();
  await running;
  assert.equal(clock.nextTimer, undefined);
});
