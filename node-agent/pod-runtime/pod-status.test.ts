import assert from 'node:assert/strict';
import test from 'node:test';
import type { Pod, PodCondition } from '../../openapi/generated/types/core_v1.js';
import { isReadinessStale, podStatus, type PodState } from './pod-status.js';

const gate = 'kubevirt.io/virtual-machine-unpaused';
const running: PodState = {
  kind: 'Running',
  startedAt: '2026-01-02T03:04:05Z',
  images: new Map(),
  ready: true,
};
const preparing: PodState = { kind: 'Preparing', waiting: new Map() };
const context = { now: '2026-01-02T03:04:06Z', startTime: '2026-01-02T03:04:04Z', address: '192.0.2.1' };

const pod = (conditions: readonly PodCondition[] = [], gates = [gate]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'launcher',
    uid: 'uid',
    resourceVersion: '1',
    creationTimestamp: '2026-01-02T03:04:04Z',
  },
  spec: { containers: [], readinessGates: gates.map((conditionType) => ({ conditionType })) },
  status: { phase: 'Running', conditions: [...conditions] },
});

const told = (each: Pod, state: PodState): Record<string, string | undefined> =>
  Object.fromEntries(
    podStatus(each, state, context).conditions?.map(({ type, status, reason }) => [
      type,
      reason === undefined ? status : `${status}: ${reason}`,
    ]) ?? [],
  );

test('a launcher that starts is ready, and its guest not paused, in one word', () => {
  assert.deepEqual(told(pod(), preparing), {
    PodScheduled: 'True',
    Initialized: 'True',
    ContainersReady: 'False: ContainersNotReady',
    Ready: 'False: ContainersNotReady',
  });
  const started = told(pod(), running);
  assert.equal(started['Ready'], 'True');
  assert.equal(started[gate], 'True: NotPaused');
});

test('it is ready when every gate is open, and no gate is opened for others', () => {
  const table: readonly (readonly [readonly PodCondition[], readonly string[], string])[] = [
    [[], [], 'True'],
    [[{ type: gate, status: 'True' }], [gate], 'True'],
    [[{ type: gate, status: 'False' }], [gate], 'False: ReadinessGatesNotReady'],
    [[{ type: gate, status: 'True' }], [gate, 'example.org/ready'], 'False: ReadinessGatesNotReady'],
  ];
  for (const [conditions, gates, ready] of table) {
    const shown = told(pod(conditions, [...gates]), running);
    assert.equal(shown['Ready'], ready, JSON.stringify([conditions, gates]));
    assert.equal(shown['ContainersReady'], 'True');
    assert.equal(shown['example.org/ready'], undefined);
  }
});

test('what others say of its readiness is corrected, once', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['True', 'True', false],
    ['True', 'False', true],
    ['False', 'True', true],
    ['False', 'False', false],
  ];
  for (const [opened, ready, stale] of table) {
    const conditions: PodCondition[] = [
      { type: gate, status: opened },
      { type: 'Ready', status: ready },
    ];
    assert.equal(isReadinessStale(pod(conditions), running), stale, `gate ${opened}, ready ${ready}`);
  }
});
