import assert from 'node:assert/strict';
import test from 'node:test';
import { Registry } from 'prom-client';
import { Controller } from './controller.js';
import { SharedInformer } from './informer.js';
import { pods } from './kinds.js';
import { PrometheusControllerMetrics, PrometheusReflectorMetrics } from './prometheus-metrics.js';
import { FakeClock, settle } from './testing/fake-clock.js';
import { ScriptedClient, pod, podList } from './testing/scripted-client.js';
import { SilentLogger } from './testing/silent-logger.js';

test('work queues are told under the names of client-go', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  let calls = 0;
  const controller = new Controller({
    name: 'vm',
    informers: [],
    workers: 1,
    clock,
    logger: new SilentLogger(),
    metrics: new PrometheusControllerMetrics(registry),
    reconcile: async () => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return new Promise<undefined>((resolve) => {
        clock.timer(2000, () => resolve(undefined));
      });
    },
  });
  const stop = new AbortController();
  for (const key of ['a', 'b', 'b', 'c']) controller.enqueue(key);
  const running = controller.run(stop.signal);
  await clock.advance(1500);
  const text = await registry.metrics();
  for (const line of [
    'workqueue_depth{name="vm"} 2',
    'workqueue_adds_total{name="vm"} 4',
    'workqueue_retries_total{name="vm"} 1',
    'workqueue_unfinished_work_seconds{name="vm"} 1.5',
    'workqueue_longest_running_processor_seconds{name="vm"} 1.5',
    'workqueue_queue_duration_seconds_count{name="vm"} 2',
    'workqueue_work_duration_seconds_count{name="vm"} 1',
    'controller_runtime_reconcile_total{controller="vm",result="error"} 1',
  ])
    assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  stop.abort();
  await clock.advance(10_000);
  await running;
});

test('reflectors are told under the names of client-go', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const informer = new SharedInformer({
    client: new ScriptedClient({
      lists: [podList(7, [pod('a', 1), pod('b', 2)])],
      watches: [[{ type: 'ADDED', object: pod('c', 9) }, { end: true }]],
    }).client,
    kind: pods,
    clock,
    logger: new SilentLogger(),
    metrics: new PrometheusReflectorMetrics(registry),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await settle();
  const text = await registry.metrics();
  for (const line of [
    'reflector_lists_total{name="pods"} 1',
    'reflector_items_per_list_sum{name="pods"} 2',
    'reflector_items_per_watch_sum{name="pods"} 1',
    'reflector_last_resource_version{name="pods"} 9',
  ])
    assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  stop.abort();
  await running;
});
