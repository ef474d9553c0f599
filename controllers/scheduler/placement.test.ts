import assert from 'node:assert/strict';
import test from 'node:test';
import type { Node, Pod, PodSpec } from '../../openapi/generated/types/core_v1.js';
import { clusterOf } from './cluster.js';
import { place } from './placement.js';

let serial = 0;

function pod(spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}, nodeName?: string): Pod {
  serial += 1;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: `pod${serial}`,
      uid: `uid${serial}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels,
    },
    spec: { containers: [], ...spec, ...(nodeName === undefined ? {} : { nodeName }) },
  };
}

function node(
  name: string,
  change: { labels?: Record<string, string>; spec?: Node['spec']; ready?: string; memory?: string } = {},
): Node {
  const { labels = {}, spec, ready = 'True', memory = '1Gi' } = change;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'kubernetes.io/hostname': name, ...labels },
    },
    ...(spec === undefined ? {} : { spec }),
    status: {
      allocatable: { cpu: '2', memory, pods: '3' },
      conditions: [{ type: 'Ready', status: ready }],
    },
  };
}

const asking = (memory: string, cpu = '100m'): Partial<PodSpec> => ({
  containers: [{ name: 'c', resources: { requests: { memory, cpu } } }],
});

function outcome(wanted: Pod, nodes: Node[], pods: Pod[] = [], assumed = new Map<string, string>()): string {
  const placement = place(wanted, clusterOf(nodes, pods, assumed));
  return placement.kind === 'node' ? placement.name : placement.message;
}

test('without nodes there is nothing to choose', () => {
  assert.equal(outcome(pod(), []), 'no nodes available to schedule pods');
});

test('the emptier node is chosen', () => {
  const busy = [pod(asking('512Mi'), {}, 'a')];
  assert.equal(outcome(pod(asking('128Mi')), [node('a'), node('b')], busy), 'b');
});

test('a node must have what is asked for, less what is taken; ended pods take nothing', () => {
  const taken = pod(asking('700Mi'), {}, 'a');
  const wanted = pod(asking('400Mi'));
  assert.equal(outcome(wanted, [node('a')], [taken]), '0/1 nodes are available: 1 Insufficient memory.');
  const ended = { ...taken, status: { phase: 'Succeeded' as const } };
  assert.equal(outcome(wanted, [node('a')], [ended]), 'a');
});

test('what has just been bound counts though the informer does not show it', () => {
  const bound = pod(asking('700Mi'));
  const assumed = new Map([[bound.metadata.uid, 'a']]);
  assert.match(outcome(pod(asking('400Mi')), [node('a')], [bound], assumed), /Insufficient memory/);
});

test('all reasons are counted', () => {
  const nodes = [
    node('a', { memory: '64Mi' }),
    node('b', { memory: '64Mi' }),
    node('c', { spec: { unschedulable: true } }),
    node('d', { ready: 'Unknown' }),
    node('e', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } }),
  ];
  assert.equal(
    outcome(pod(asking('128Mi')), nodes),
    '0/5 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were not ready, 1 node(s) were unschedulable, 2 Insufficient memory.',
  );
});

test('a device that no node has is insufficient everywhere', () => {
  const resources = { limits: { 'vendor/gpu': '1' } };
  const wanted = pod({ containers: [{ name: 'c', resources }] });
  assert.match(outcome(wanted, [node('a')]), /1 Insufficient vendor\/gpu/);
});

test('a node takes only so many pods', () => {
  const others = [1, 2, 3].map(() => pod({}, {}, 'a'));
  assert.match(outcome(pod(), [node('a')], others), /1 Too many pods/);
});

test('tolerations let a pod onto tainted and cordoned nodes', () => {
  const tainted = node('a', { spec: { unschedulable: true, taints: [{ key: 'k', effect: 'NoExecute' }] } });
  assert.equal(outcome(pod({ tolerations: [{ operator: 'Exists' }] }), [tainted]), 'a');
  const one = [{ key: 'k', operator: 'Exists' as const }];
  assert.match(outcome(pod({ tolerations: one }), [tainted]), /unschedulable/);
});

test('node selectors and required node affinity must match', () => {
  const nodes = [
    node('a', { labels: { disk: 'hdd', size: '5' } }),
    node('b', { labels: { disk: 'ssd', size: '9' } }),
  ];
  assert.equal(outcome(pod({ nodeSelector: { disk: 'ssd' } }), nodes), 'b');
  const required = (key: string, operator: 'Gt' | 'NotIn' | 'DoesNotExist', values: string[]): Pod =>
    pod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
          },
        },
      },
    });
  assert.equal(outcome(required('size', 'Gt', ['7']), nodes), 'b');
  assert.equal(outcome(required('disk', 'NotIn', ['ssd']), nodes), 'a');
  assert.match(
    outcome(required('disk', 'DoesNotExist', []), nodes),
    /2 node\(s\) didn't match Pod's node affinity\/selector/,
  );
});

test('preferred node affinity outweighs emptiness', () => {
  const nodes = [node('a', { labels: { disk: 'ssd' } }), node('b')];
  const preference = { matchExpressions: [{ key: 'disk', operator: 'In' as const, values: ['ssd'] }] };
  const affinity = {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] },
  };
  assert.equal(outcome(pod({ affinity }), nodes, [pod(asking('256Mi'), {}, 'a')]), 'a');
});

const near = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } } };

test('pods that must be apart are, also when only the other one asks', () => {
  const apart = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } };
  const other = pod({}, { app: 'x' }, 'a');
  assert.equal(outcome(pod({ affinity: apart }), [node('a'), node('b')], [other]), 'b');
  const asking = pod({ affinity: apart }, {}, 'a');
  assert.match(
    outcome(pod({}, { app: 'x' }), [node('a')], [asking]),
    /didn't satisfy existing pods anti-affinity rules/,
  );
});

test('pods that must be together are; the first of a group may go anywhere', () => {
  const together = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } };
  const nodes = [node('a'), node('b')];
  assert.equal(outcome(pod({ affinity: together }), nodes, [pod({}, { app: 'x' }, 'b')]), 'b');
  assert.match(outcome(pod({ affinity: together }), nodes), /didn't match pod affinity rules/);
  assert.equal(outcome(pod({ affinity: together }, { app: 'x' }), nodes), 'a');
});

test('topology spread keeps domains even', () => {
  const zones = [node('a', { labels: { zone: '1' } }), node('b', { labels: { zone: '2' } }), node('c')];
  const constraint = {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule' as const,
    labelSelector: { matchLabels: { app: 'x' } },
  };
  const wanted = pod({ topologySpreadConstraints: [constraint] }, { app: 'x' });
  assert.equal(outcome(wanted, zones, [pod({}, { app: 'x' }, 'a')]), 'b');
  const full = zones.map((each) =>
    each.metadata.name === 'b' ? node('b', { labels: { zone: '2' }, ready: 'False' }) : each,
  );
  assert.match(
    outcome(wanted, full, [pod({}, { app: 'x' }, 'a')]),
    /didn't match pod topology spread constraints, .*missing required label/,
  );
});

test('a pod that makes no sense does not keep others from being placed', () => {
  const selector = { matchExpressions: [{ key: 'a', operator: 'Sideways' as 'In', values: [] }] };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: selector };
  const apart = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const strange = pod({ affinity: apart, ...asking('a lot', 'much') }, {}, 'a');
  assert.equal(outcome(pod(asking('1Mi')), [node('a')], [strange]), 'a');
});
