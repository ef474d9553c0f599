import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { loadDefinitions } from './definitions.js';
import { mergePatch } from './merge-patch.js';
import { strategicMergePatch, StrategicMergePatchError } from './strategic-merge-patch.js';
import { compileStructural, type StructuralNode } from './structural.js';

const rootOf = (name: string): StructuralNode => compileStructural(loadDefinitions(), name).root;
const pod = rootOf('io.k8s.api.core.v1.Pod');
const service = rootOf('io.k8s.api.core.v1.Service');
const configMap = rootOf('io.k8s.api.core.v1.ConfigMap');
const role = rootOf('io.k8s.api.rbac.v1.Role');
const budget = rootOf('io.k8s.api.policy.v1.PodDisruptionBudget');

interface Case {
  readonly name: string;
  readonly node: StructuralNode;
  readonly target: unknown;
  readonly patch: unknown;
  readonly result: unknown;
}

const containers = (...items: unknown[]): object => ({ spec: { containers: items } });
const metadata = (members: object): object => ({ metadata: members });

const cases: readonly Case[] = [
  {
    name: 'maps are merged, and null deletes',
    node: configMap,
    target: { data: { a: '1', b: '2' }, metadata: { labels: { x: 'y' } } },
    patch: { data: { a: '3', b: null, c: '4' }, metadata: { labels: null, annotations: { n: 'm' } } },
    result: { data: { a: '3', c: '4' }, metadata: { annotations: { n: 'm' } } },
  },
  {
    name: 'a map is replaced',
    node: configMap,
    target: { data: { a: '1', b: '2' } },
    patch: { data: { $patch: 'replace', c: '3', d: null } },
    result: { data: { c: '3' } },
  },
  {
    name: 'a map is emptied',
    node: configMap,
    target: { data: { a: '1' } },
    patch: { data: { $patch: 'delete' } },
    result: { data: {} },
  },
  {
    name: 'an item is merged by its key, and a new one comes before what it was not placed against',
    node: pod,
    target: containers({ name: 'a', image: '1', tty: true }, { name: 'b', image: '1' }),
    patch: containers({ name: 'c', image: '3' }, { name: 'a', image: '2' }),
    result: containers(
      { name: 'c', image: '3' },
      { name: 'a', image: '2', tty: true },
      { name: 'b', image: '1' },
    ),
  },
  {
    name: 'lists inside of items are merged too',
    node: pod,
    target: containers({
      name: 'a',
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '1' },
      ],
      args: ['a', 'b'],
    }),
    patch: containers({ name: 'a', env: [{ name: 'Y', value: '2' }], args: ['c'] }),
    result: containers({
      name: 'a',
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '2' },
      ],
      args: ['c'],
    }),
  },
  {
    name: 'an item is deleted',
    node: pod,
    target: containers({ name: 'a' }, { name: 'b' }),
    patch: containers({ name: 'b', $patch: 'delete' }, { name: 'missing', $patch: 'delete' }),
    result: containers({ name: 'a' }),
  },
  {
    name: 'a list is replaced',
    node: pod,
    target: containers({ name: 'a' }, { name: 'b', tty: true }),
    patch: containers({ $patch: 'replace' }, { name: 'b', image: 'i' }),
    result: containers({ name: 'b', image: 'i' }),
  },
  {
    name: 'directives for what is not there leave no trace',
    node: pod,
    target: {},
    patch: {
      spec: {
        '$setElementOrder/volumes': [{ name: 'v' }],
        containers: [{ name: 'a', $patch: 'delete' }, { name: 'b' }],
      },
      metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] },
    },
    result: { spec: { containers: [{ name: 'b' }] }, metadata: {} },
  },
  {
    name: '$setElementOrder orders, and keeps what it does not name in place',
    node: pod,
    target: containers({ name: 'a' }, { name: 'live' }, { name: 'b' }),
    patch: {
      spec: {
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'new' }, { name: 'a' }],
        containers: [{ name: 'new' }, { name: 'a', image: 'i' }],
      },
    },
    result: containers({ name: 'live' }, { name: 'b' }, { name: 'new' }, { name: 'a', image: 'i' }),
  },
  {
    name: '$setElementOrder alone',
    node: pod,
    target: containers({ name: 'a' }, { name: 'b' }),
    patch: { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
    result: containers({ name: 'b' }, { name: 'a' }),
  },
  {
    name: 'a set is joined',
    node: pod,
    target: metadata({ finalizers: ['x/a', 'x/b'] }),
    patch: metadata({ finalizers: ['x/b', 'x/c'] }),
    result: metadata({ finalizers: ['x/a', 'x/b', 'x/c'] }),
  },
  {
    name: 'items of a set are deleted and added at once',
    node: pod,
    target: metadata({ finalizers: ['x/a', 'x/b'] }),
    patch: metadata({
      '$deleteFromPrimitiveList/finalizers': ['x/a'],
      '$setElementOrder/finalizers': ['x/c', 'x/b'],
      finalizers: ['x/c'],
    }),
    result: metadata({ finalizers: ['x/c', 'x/b'] }),
  },
  {
    name: '$retainKeys leaves one kind of volume',
    node: pod,
    target: { spec: { volumes: [{ name: 'v', hostPath: { path: '/a' } }] } },
    patch: {
      spec: { volumes: [{ $retainKeys: ['name', 'emptyDir'], name: 'v', emptyDir: {}, hostPath: null }] },
    },
    result: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
  },
  {
    name: 'ports of a service are told apart by port alone',
    node: service,
    target: { spec: { ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }] } },
    patch: { spec: { ports: [{ port: 80, targetPort: 'http' }, { port: 443 }] } },
    result: { spec: { ports: [{ port: 80, protocol: 'TCP', targetPort: 'http' }, { port: 443 }] } },
  },
  {
    name: 'owners are told apart by uid',
    node: pod,
    target: metadata({ ownerReferences: [{ uid: '1', name: 'a' }] }),
    patch: metadata({ ownerReferences: [{ uid: '1', name: 'b' }] }),
    result: metadata({ ownerReferences: [{ uid: '1', name: 'b' }] }),
  },
  {
    name: 'conditions are told apart by type',
    node: pod,
    target: { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'r' }] } },
    patch: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    result: { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'r' }] } },
  },
  {
    name: 'tolerations are replaced',
    node: pod,
    target: { spec: { tolerations: [{ key: 'a' }, { key: 'b' }] } },
    patch: { spec: { tolerations: [{ key: 'c' }] } },
    result: { spec: { tolerations: [{ key: 'c' }] } },
  },
  {
    name: 'rules of a role are replaced',
    node: role,
    target: { rules: [{ verbs: ['get'] }] },
    patch: { rules: [{ verbs: ['list'] }] },
    result: { rules: [{ verbs: ['list'] }] },
  },
  {
    name: 'the selector of a budget is replaced',
    node: budget,
    target: { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
    patch: { spec: { selector: { matchLabels: { c: 'd' } } } },
    result: { spec: { minAvailable: 1, selector: { matchLabels: { c: 'd' } } } },
  },
  {
    name: 'what the schema does not know is merged as by a merge patch',
    node: pod,
    target: { spec: { unknown: { a: [{ name: 'x' }], b: 1 } } },
    patch: { spec: { unknown: { a: [{ name: 'y' }] } } },
    result: { spec: { unknown: { a: [{ name: 'y' }], b: 1 } } },
  },
];

for (const { name, node, target, patch, result } of cases)
  test(`strategic merge patch: ${name}`, () => {
    const before = JSON.stringify([target, patch]);
    assert.deepEqual(strategicMergePatch(target, patch, node), result);
    assert.equal(JSON.stringify([target, patch]), before, 'arguments stay as they are');
  });

const faults: readonly (readonly [string, object, RegExp])[] = [
  [
    'an unknown directive',
    { spec: { $patch: 'merge' } },
    /spec: \$patch must be "replace" or "delete", but it is "merge"/,
  ],
  [
    'an unknown directive of an item',
    containers({ name: 'a', $patch: 1 }),
    /spec\.containers\[0\]: \$patch must be/,
  ],
  ['an item without its key', containers({ image: 'i' }), /spec\.containers\[0\]: .* merge key name/],
  [
    'a deletion without its key',
    containers({ $patch: 'delete' }),
    /spec\.containers\[0\]: .* merge key name/,
  ],
  ['an item that is no object', containers('a'), /spec\.containers\[0\]: .* must be an object/],
  ['an object in a set', metadata({ finalizers: [{}] }), /metadata\.finalizers\[0\]: .* must be a string/],
  ['an order that is no list', { spec: { '$setElementOrder/containers': {} } }, /must be a list/],
  [
    'an item that its order lacks',
    { spec: { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a' }] } },
    /spec\.containers: .*"a" is not/,
  ],
  [
    'items in another order',
    { metadata: { '$setElementOrder/finalizers': ['a', 'b'], finalizers: ['b', 'a'] } },
    /metadata\.finalizers: .*"a" is not/,
  ],
  [
    'an order of a list that is not merged',
    { spec: { '$setElementOrder/tolerations': [], tolerations: [] } },
    /spec\.tolerations: it is replaced as a whole/,
  ],
  [
    'a deletion of scalars from objects',
    { spec: { '$deleteFromPrimitiveList/containers': ['a'], containers: [] } },
    /spec\.containers: its items are objects/,
  ],
  ['a member beside $retainKeys', { spec: { $retainKeys: ['a'], b: 1 } }, /spec: b is in the patch/],
];

for (const [name, patch, message] of faults)
  test(`strategic merge patch refuses ${name}`, () => {
    assert.throws(
      () => strategicMergePatch({ spec: {} }, patch, pod),
      (error) => error instanceof StrategicMergePatchError && message.test(error.message),
    );
  });

test('without merged lists and directives it is a merge patch', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, 1, 'a'), fc.array(fc.integer()), tie('object')),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
  }));
  const data = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);
  fc.assert(
    fc.property(data, data, (target, patch) => {
      assert.deepEqual(
        strategicMergePatch({ data: target }, { data: patch }, configMap),
        mergePatch({ data: target }, { data: patch }),
      );
    }),
  );
});

test('applying a patch twice is applying it once', () => {
  const item = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), image: fc.constantFrom('1', '2') });
  const list = fc.uniqueArray(item, { selector: ({ name }) => name });
  fc.assert(
    fc.property(list, list, (target, patch) => {
      const once = strategicMergePatch(containers(...target), containers(...patch), pod);
      assert.deepEqual(strategicMergePatch(once, containers(...patch), pod), once);
    }),
  );
});
