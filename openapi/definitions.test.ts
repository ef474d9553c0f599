import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { definition, loadDefinitions } from './definitions.js';
import { readDefinitions } from './generate/definitions.js';
import type { Schema } from './schema.js';

const definitions = loadDefinitions();

function* everySchema(name: string, schema: Schema): Generator<readonly [string, Schema]> {
  yield [name, schema];
  for (const [key, member] of Object.entries(schema.properties ?? {}))
    yield* everySchema(`${name}.${key}`, member);
  if (schema.items !== undefined) yield* everySchema(`${name}[]`, schema.items);
  if (typeof schema.additionalProperties === 'object')
    yield* everySchema(`${name}{}`, schema.additionalProperties);
}

const all = Object.entries(definitions).flatMap(([name, schema]) => [...everySchema(name, schema)]);

test('the generated module is what the YAML says', () => {
  const fromYaml = readDefinitions(path.join(import.meta.dirname, 'definitions'));
  assert.deepEqual(definitions, fromYaml, 'run npm run generate');
});

test('definitions are loaded once', () => {
  assert.equal(loadDefinitions(), definitions);
  assert.equal(definition(definitions, 'io.kubevirt.v1.Disk').type, 'object');
  assert.throws(() => definition(definitions, 'io.kubevirt.v1.Nothing'), /no definition named/);
});

test('every definition and every member is described', () => {
  const named = all.filter(([name]) => !name.endsWith('[]') && !name.endsWith('{}'));
  const silent = named.filter(([, schema]) => (schema.description ?? '').trim() === '').map(([name]) => name);
  assert.deepEqual(silent, []);
});

test('descriptions are sentences', () => {
  for (const [name, { description }] of all) {
    if (description === undefined) continue;
    assert.match(description, /^[A-Z`].*[.]$/s, name);
    assert.doesNotMatch(description, /\bTODO\b|\n/, name);
  }
});

const knownKeywords = new Set([
  'description',
  '$ref',
  'type',
  'format',
  'nullable',
  'required',
  'enum',
  'default',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'properties',
  'additionalProperties',
  'items',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-map-type',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);

test('only keywords that the pipeline understands are used', () => {
  for (const [name, schema] of all)
    for (const keyword of Object.keys(schema)) assert.ok(knownKeywords.has(keyword), `${name}: ${keyword}`);
});

test('required members, list keys and defaults fit their schema', () => {
  const types = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean', undefined]);
  for (const [name, schema] of all) {
    assert.ok(types.has(schema.type), name);
    for (const key of schema.required ?? [])
      assert.ok(key in (schema.properties ?? {}), `${name}.${key} is required`);
    const item = schema.items?.$ref === undefined ? schema.items : definition(definitions, schema.items.$ref);
    for (const key of schema['x-kubernetes-list-map-keys'] ?? [])
      assert.ok(key in (item?.properties ?? {}), `${name}: list key ${key}`);
    const mergeKey = schema['x-kubernetes-patch-merge-key'];
    if (mergeKey !== undefined) {
      assert.ok(mergeKey in (item?.properties ?? {}), `${name}: merge key ${mergeKey}`);
      assert.match(schema['x-kubernetes-patch-strategy'] ?? '', /^merge\b/, name);
    }
    if (schema['x-kubernetes-list-type'] === 'map')
      assert.ok((schema['x-kubernetes-list-map-keys'] ?? []).length > 0, name);
    if (schema.default !== undefined && schema.enum !== undefined)
      assert.ok(
        schema.enum.some((value) => value === schema.default),
        `${name}: default`,
      );
  }
});
