import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Definitions, Schema } from '../../openapi/schema.js';
import { createdFields } from './created-fields.js';
import { FieldSet } from './field-set.js';
import { TypeTree } from './type-tree.js';
import { compare } from './typed-value.js';

const string: Schema = { type: 'string' };
const definitions: Definitions = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': { type: 'object', properties: { name: string } },
  T: {
    type: 'object',
    properties: {
      a: string,
      inner: { type: 'object', properties: { a: string, b: { type: 'array', items: string } } },
      atom: { type: 'object', additionalProperties: string, 'x-kubernetes-map-type': 'atomic' },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      labels: { type: 'object', additionalProperties: string },
      set: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
      list: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', properties: { name: string, a: string, inner: { $ref: 'T' } } },
      },
    },
  },
};
const type = new TypeTree(definitions).root('T');

const text = fc.constantFrom('', 'x', 'y/z', 'é');
const { object } = fc.letrec<{ object: unknown }>((tie) => ({
  object: fc.record(
    {
      z: text,
      a: fc.oneof(text, fc.constant(null), fc.jsonValue({ maxDepth: 1 })),
      inner: fc.record({ b: fc.array(text), a: text }, { requiredKeys: [] }),
      atom: fc.dictionary(text, text),
      free: fc.jsonValue({ maxDepth: 3 }),
      labels: fc.dictionary(text, text),
      set: fc.uniqueArray(text),
      list: fc.uniqueArray(
        fc.record({ name: text, inner: tie('object'), a: text }, { requiredKeys: ['name'] }),
        { selector: ({ name }) => name, maxLength: 3 },
      ),
    },
    { requiredKeys: [] },
  ),
}));

test('what a new object owns is what comparing and taking away finds', () => {
  const unowned = FieldSet.fromPaths([['f:a'], ['f:inner'], ['f:inner', 'f:a'], ['f:list'], ['f:none']]);
  fc.assert(
    fc.property(object, (value) => {
      const { added, modified, removed } = compare(type, undefined, value);
      const slow = JSON.stringify(added.difference(unowned).toFieldsV1());
      assert.equal(createdFields(type, value as object, unowned), slow);
      assert.ok(modified.isEmpty && removed.isEmpty);
    }),
  );
});
