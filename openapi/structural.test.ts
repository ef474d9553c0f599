import assert from 'node:assert/strict';
import test from 'node:test';
import { loadDefinitions } from './definitions.js';
import type { Definitions } from './schema.js';
import { compileStructural } from './structural.js';

const definitions: Definitions = {
  Root: {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      metadata: { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      spec: { $ref: 'Spec' },
      status: { $ref: 'Spec', nullable: true },
    },
  },
  Spec: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'x' },
      size: { $ref: 'io.k8s.apimachinery.pkg.api.resource.Quantity' },
      inner: { type: 'object', default: {}, properties: { port: { type: 'integer', default: 1 } } },
      list: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { $ref: 'Item' },
      },
      open: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { a: { type: 'object' } },
      },
      map: { type: 'object', additionalProperties: { $ref: 'Item' } },
      frozen: { $ref: 'Item', 'x-kubernetes-map-type': 'atomic' },
      again: { $ref: 'Spec' },
    },
  },
  Item: {
    type: 'object',
    properties: { name: { type: 'string' }, protocol: { type: 'string', default: 'TCP' } },
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
    type: 'object',
    properties: {
      name: { type: 'string' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {},
};
const schema = compileStructural(definitions, 'Root');

test('unknown members are removed and named', () => {
  const object = {
    apiVersion: 'v1',
    extra: 1,
    metadata: { name: 'a', nmae: 'b', labels: { anything: 'x' } },
    spec: {
      size: '1Gi',
      list: [{ name: 'a' }, { name: 'b', bar: 1 }],
      map: { k: { name: 'x', foo: 2 } },
      open: { a: { b: 1 }, c: { d: 1 } },
      again: { again: { again: { unknown: 1 } } },
      constructor: 1,
    },
  };
  assert.deepEqual(schema.prune(object), [
    'extra',
    'metadata.nmae',
    'spec.again.again.again.unknown',
    'spec.constructor',
    'spec.list[1].bar',
    'spec.map.k.foo',
    'spec.open.a.b',
  ]);
  assert.deepEqual(object, {
    apiVersion: 'v1',
    metadata: { name: 'a', labels: { anything: 'x' } },
    spec: {
      size: '1Gi',
      list: [{ name: 'a' }, { name: 'b' }],
      map: { k: { name: 'x' } },
      open: { a: {}, c: { d: 1 } },
      again: { again: { again: {} } },
    },
  });
  assert.deepEqual(schema.prune(object), []);
});

test('values of the wrong type are left for the validator', () => {
  for (const object of [null, 1, [], { spec: 'x' }, { spec: { list: {}, map: [], inner: [1] } }]) {
    const before = structuredClone(object);
    assert.deepEqual(schema.prune(object), []);
    assert.deepEqual(object, before);
  }
});

test('nulls that mean absence go; others stay to be reported', () => {
  const object = { metadata: { name: null, labels: null }, spec: { size: null, list: [null] }, status: null };
  assert.deepEqual(schema.prune(object), []);
  assert.deepEqual(object, { metadata: {}, spec: { size: null, list: [null] } });
});

test('defaults are set, also inside defaults, and not shared', () => {
  const first = { spec: { list: [{ name: 'a' }, { protocol: 'UDP' }], map: { k: {} } } };
  schema.applyDefaults(first);
  const expected = {
    spec: {
      name: 'x',
      inner: { port: 1 },
      list: [{ name: 'a', protocol: 'TCP' }, { protocol: 'UDP' }],
      map: { k: { protocol: 'TCP' } },
    },
  };
  assert.deepEqual(first, expected);
  schema.applyDefaults(first);
  assert.deepEqual(first, expected);
  const second = { spec: { name: null } } as { spec: { name: string | null; inner?: { port: number } } };
  schema.applyDefaults(second);
  assert.equal(second.spec.name, 'x');
  const third = { spec: {} } as typeof second;
  schema.applyDefaults(third);
  if (second.spec.inner !== undefined) second.spec.inner.port = 9;
  assert.equal(third.spec.inner?.port, 1);
});

test('nodes of server-side apply', () => {
  const list = schema.schemaAt(['spec', 'list']);
  assert.ok(list?.kind === 'list');
  assert.deepEqual([list.listType, list.keys], ['map', ['name']]);
  assert.deepEqual(schema.schemaAt(['spec', 'list', 0, 'name']), { kind: 'scalar', type: 'string' });
  assert.deepEqual(schema.schemaAt(['spec', 'size']), { kind: 'scalar', type: 'quantity' });
  const frozen = schema.schemaAt(['spec', 'frozen']);
  assert.ok(frozen?.kind === 'object' && frozen.atomic);
  const labels = schema.schemaAt(['metadata', 'labels']);
  assert.ok(labels?.kind === 'map' && !labels.atomic);
  assert.equal(schema.schemaAt(['spec', 'nope']), undefined);
  assert.equal(schema.schemaAt(['spec', 'list', 'x']), undefined);
  assert.equal(schema.schemaAt(['spec', 'open', 'z', 'y'])?.kind, 'any');
  assert.equal(schema.schemaAt(['spec', 'again', 'again'])?.kind, 'object');
});

test('what is not defined is an error', () => {
  assert.throws(() => compileStructural(definitions, 'Nothing'), /no definition named Nothing/);
  assert.throws(() => compileStructural({ A: { type: 'array' } }, 'A'), /without items/);
});

test('every definition of the API compiles', () => {
  const all = loadDefinitions();
  for (const name of Object.keys(all)) compileStructural(all, name);
  const vm = compileStructural(all, 'io.kubevirt.v1.VirtualMachine');
  const object = {
    metadata: { name: 'a', creationTimestamp: null },
    spec: {
      template: {
        metadata: { creationTimestamp: null, labels: { a: 'b' } },
        spec: { domain: { devices: { disks: [{ name: 'd', disk: { buz: 'virtio' } }] } } },
      },
    },
    status: null,
  };
  assert.deepEqual(vm.prune(object), ['spec.template.spec.domain.devices.disks[0].disk.buz']);
  assert.deepEqual(object.spec.template.metadata, { labels: { a: 'b' } });
  assert.equal('status' in object, false);
  const pod = compileStructural(all, 'io.k8s.api.core.v1.Pod');
  const native = { spec: { containers: null, nodeName: null } };
  assert.deepEqual(pod.prune(native), []);
  assert.deepEqual(native, { spec: {} });
});
