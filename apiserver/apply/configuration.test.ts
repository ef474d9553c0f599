import assert from 'node:assert/strict';
import test from 'node:test';
import type { Definitions } from '../../openapi/schema.js';
import { ConfigurationError, mergeConfiguration } from './configuration.js';
import { TypeTree } from './type-tree.js';

const string = { type: 'string' } as const;
const definitions: Definitions = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
    type: 'object',
    properties: {
      labels: { type: 'object', additionalProperties: string },
      finalizers: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    },
  },
  Kind: {
    type: 'object',
    properties: {
      metadata: { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          names: { type: 'array', items: string },
          selector: { type: 'object', properties: { app: string }, 'x-kubernetes-map-type': 'atomic' },
          disks: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', properties: { name: string, size: { type: 'integer' } } },
          },
          open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
};
const type = new TypeTree(definitions).root('Kind');
const before = {
  metadata: { labels: { a: '1' }, finalizers: ['x'] },
  spec: { size: 1, disks: [{ name: 'a', size: 1 }] },
};
const merged = (configuration: object): unknown => mergeConfiguration(type, before, configuration);

test('what is set wins, and everything else stays', () => {
  assert.deepEqual(
    merged({
      metadata: { labels: { b: '2' }, finalizers: ['y'] },
      spec: {
        disks: [
          { name: 'b', size: 2 },
          { name: 'a', size: 3 },
        ],
        open: { whatever: { deep: 1 } },
      },
    }),
    {
      metadata: { labels: { a: '1', b: '2' }, finalizers: ['x', 'y'] },
      spec: {
        size: 1,
        disks: [
          { name: 'b', size: 2 },
          { name: 'a', size: 3 },
        ],
        open: { whatever: { deep: 1 } },
      },
    },
  );
});

test('what the type does not have, and parts of what is one value, can not be set', () => {
  const table: readonly (readonly [object, RegExp])[] = [
    [{ spec: { nowhere: 1 } }, /: \.spec\.nowhere: field not declared in schema$/],
    [{ spec: { disks: [{ name: 'a', nowhere: 1 }] } }, /: \.spec\.disks\[0\]\.nowhere: field not declared/],
    [{ spec: { names: ['a'] } }, /may not mutate atomic arrays, maps or structs: \.spec\.names$/],
    [{ spec: { selector: { app: 'a' } } }, /atomic arrays, maps or structs: \.spec\.selector$/],
    [{ spec: { names: [], selector: {} } }, /: \.spec\.names, \.spec\.selector$/],
    [{ spec: { disks: [{ size: 1 }] } }, /failed to merge patch: \.spec\.disks: an item lacks its key/],
  ];
  for (const [configuration, message] of table)
    assert.throws(
      () => merged(configuration),
      (error) => error instanceof ConfigurationError && message.test(error.message),
      String(message),
    );
});
