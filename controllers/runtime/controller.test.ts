import assert from 'node:assert/strict';
import test from 'node:test';
import { Controller, type ControllerMetrics, type ControllerOptions } from './controller.js';
import { StatusError } from './errors.js';
import { SharedInformer } from './informer.js';
import { pods } from './kinds.js';
import { FakeClient } from './testing/fake-client.js';
import { FakeClock, settle } from './testing/fake-clock.js';
import { SilentLogger } from './testing/silent-logger.js';
import { statusError } from './testing/status-error.js';

function start(reconcile: ControllerOptions['reconcile'], more: Partial<ControllerOptions> = {}) {
  const clock = new FakeClock();
  const logger = new SilentLogger();
  const controller = new Controller({ name: 'test', informers: [], reconcile, logger, clock, ...more });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, logger, controller, end };
}

const noMetrics: ControllerMetrics = {
  queue: () => undefined,
  added: () => undefined,
  taken: () => undefined,
  retried: () => undefined,
  reconciled: () => undefined,
};

test('a failed key is tried again after a growing delay, and forgotten once it works', async () => {
  const times: number[] = [];
  const { clock, controller, logger, end } = start(() => {
    times.push(clock.monotonic());
    if (times.length < 4) throw new Error('not yet');
    return Promise.resolve(undefined);
  });
  controller.enqueue('a');
  await clock.advance(1000);
  assert.deepEqual(
    times.map((at) => at - (times[0] ?? 0)),
    [0, 5, 15, 35],
  );
  assert.equal(logger.problems.length, 3);
  await end();
});

test('a server that says when to come back is obeyed', async () => {
  const busy = statusError('ServiceUnavailable', pods);
  let calls = 0;
  const { clock, controller, end } = start(() => {
    calls += 1;
    if (calls === 1) throw new StatusError(busy.status, 3);
    return Promise.resolve(undefined);
  });
  controller.enqueue('a');
  await clock.advance(2999);
  assert.equal(calls, 1);
  await clock.advance(1);
  assert.equal(calls, 2);
  await end();
});

test('a conflict is no cause for alarm', async () => {
  const outcomes: string[] = [];
  let calls = 0;
  const { clock, controller, logger, end } = start(
    () => {
      calls += 1;
      if (calls === 1) throw statusError('Conflict', pods);
      return Promise.resolve(undefined);
    },
    {
      metrics: {
        ...noMetrics,
        reconciled: (_name, outcome) => outcomes.push(outcome),
      },
    },
  );
  controller.enqueue('a');
  await clock.advance(100);
  assert.deepEqual(outcomes, ['conflict', 'success']);
  assert.deepEqual(logger.problems, []);
  await end();
});

test('requeueAfter brings a key back', async () => {
  let calls = 0;
  const { clock, controller, end } = start(() => {
    calls += 1;
    return Promise.resolve(calls === 1 ? { requeueAfter: 500 } : undefined);
  });
  controller.enqueue('a');
  await clock.advance(499);
  assert.equal(calls, 1);
  await clock.advance(10_000);
  assert.equal(calls, 2);
  await end();
});

test('nothing is worked on before the informers have synced, and never twice at once', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const logger = new SilentLogger();
  const informer = new SharedInformer({ client, kind: pods, clock, logger });
  let present = 0;
  let most = 0;
  let calls = 0;
  const { controller, end } = start(
    async () => {
      calls += 1;
      present += 1;
      most = Math.max(most, present);
      await settle();
      present -= 1;
      return undefined;
    },
    { informers: [informer], workers: 4 },
  );
  controller.enqueue('a');
  await settle();
  assert.equal(calls, 0);
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await settle();
  controller.enqueue('a');
  await settle();
  await settle();
  await settle();
  assert.equal(calls, 2);
  assert.equal(most, 1);
  stop.abort();
  await running;
  await end();
});

test('a controller that is stopped before its informers sync ends quietly', async () => {
  const informer = new SharedInformer({
    client: new FakeClient(),
    kind: pods,
    logger: new SilentLogger(),
  });
  const { end } = start(() => Promise.resolve(undefined), { informers: [informer] });
  await end();
});
