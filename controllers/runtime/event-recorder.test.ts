import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { ClientEventRecorder } from './event-recorder.js';
import { events } from './kinds.js';
import { FakeClient } from './testing/fake-client.js';
import { FakeClock, settle } from './testing/fake-clock.js';
import { pod } from './testing/scripted-client.js';
import { SilentLogger } from './testing/silent-logger.js';

function start(t: TestContext) {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const logger = new SilentLogger();
  const recorder = new ClientEventRecorder({ client, component: 'tester', host: 'h', logger, clock });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return { clock, client, logger, recorder };
}

test('an event names its object, and what kubectl describe looks for', async (t) => {
  const { client, recorder } = start(t);
  recorder.event(pod('a', 7), 'Normal', 'Created', 'made a pod');
  await settle();
  const [event] = client.all(events);
  assert.match(event?.metadata.name ?? '', /^a\.[0-9a-f]+$/);
  assert.deepEqual(event?.involvedObject, {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: 'default',
    name: 'a',
    uid: 'uid-a',
    resourceVersion: '7',
  });
  assert.equal(event.count, 1);
  assert.equal(event.type, 'Normal');
  assert.deepEqual(event.source, { component: 'tester', host: 'h' });
  assert.equal(event.firstTimestamp, '2026-01-02T03:04:05Z');
});

test('the same again is counted on the event that is there', async (t) => {
  const { clock, client, recorder } = start(t);
  recorder.event(pod('a', 1), 'Normal', 'Created', 'made a pod');
  await clock.advance(3000);
  recorder.event(pod('a', 2), 'Normal', 'Created', 'made a pod');
  await settle();
  const [event, ...others] = client.all(events);
  assert.equal(others.length, 0);
  assert.equal(event?.count, 2);
  assert.equal(event.firstTimestamp, '2026-01-02T03:04:05Z');
  assert.equal(event.lastTimestamp, '2026-01-02T03:04:08Z');
});

test('an event that has lapsed in the meantime is made anew', async (t) => {
  const { client, recorder } = start(t);
  recorder.event(pod('a', 1), 'Normal', 'Created', 'made a pod');
  await settle();
  for (const { metadata } of client.all(events)) client.remove(events, metadata);
  recorder.event(pod('a', 1), 'Normal', 'Created', 'made a pod');
  await settle();
  assert.equal(client.all(events)[0]?.count, 1);
});

test('many that differ in their message only are combined into one', async (t) => {
  const { clock, client, recorder } = start(t);
  for (let number = 1; number <= 14; number++) {
    recorder.event(pod('a', 1), 'Warning', 'Failed', `attempt ${number}`);
    await clock.advance(1000);
  }
  const all = client.all(events);
  assert.equal(all.length, 11);
  const combined = all.find(({ message }) => message?.startsWith('(combined from similar events): '));
  assert.equal(combined?.count, 4);
  assert.match(combined.message ?? '', /attempt 14$/);
});

test('an object that keeps shouting is muted, others are not', async (t) => {
  const { clock, client, recorder } = start(t);
  for (let number = 0; number < 40; number++)
    recorder.event(pod('a', 1), 'Normal', `Reason${number}`, 'text');
  recorder.event(pod('b', 1), 'Normal', 'Quiet', 'text');
  await settle();
  const of = (name: string): number =>
    client.all(events).filter(({ involvedObject }) => involvedObject.name === name).length;
  assert.deepEqual([of('a'), of('b')], [25, 1]);
  await clock.advance(300_000);
  recorder.event(pod('a', 1), 'Normal', 'Later', 'text');
  await settle();
  assert.equal(of('a'), 26);
});

test('a server that refuses events harms nobody, and the next ones are sent', async (t) => {
  const { client, recorder, logger } = start(t);
  client.beforeWrite = () => {
    throw new Error('down');
  };
  recorder.event(pod('a', 1), 'Normal', 'Lost', 'text');
  await settle();
  client.beforeWrite = undefined;
  recorder.event(pod('a', 1), 'Normal', 'Sent', 'text');
  await settle();
  assert.deepEqual(
    client.all(events).map(({ reason }) => reason),
    ['Sent'],
  );
  assert.equal(logger.problems.length, 1);
});

test('events of cluster-scoped objects go to the default namespace', async (t) => {
  const { client, recorder } = start(t);
  const metadata = { ...pod('a', 1).metadata };
  delete metadata.namespace;
  recorder.event({ apiVersion: 'v1', kind: 'Node', metadata }, 'Normal', 'Ready', 'text');
  await settle();
  assert.equal(client.all(events)[0]?.metadata.namespace, 'default');
});
