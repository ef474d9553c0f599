import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { loadDefinitions } from '../definitions.js';
import type { Schema } from '../schema.js';
import { compileConforms } from './conforms.js';
import { schemaCompiler } from './json-schema.js';

const definitions = loadDefinitions();

/** Values that fit somewhere, and fit nowhere else. */
const scalars: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, '', 'a', '1', '2Gi', '1.5', 'Always', 'virtio', '2026-01-02T03:04:05Z', 'YQ=='),
  fc.constantFrom(0, 1, -1, 1.5, 2 ** 31, -(2 ** 63), 1e300, '\u{1f600}', 'x'.repeat(300)),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const anything: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalars },
  { weight: 1, arbitrary: fc.array(scalars, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('a', 'name', 'kind', 'toString'), scalars) },
);

/** Mostly what the schema says, now and then something else. */
function valueOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (depth === 0) return fc.oneof(anything, fc.constantFrom({}, []));
  return fc.oneof({ weight: 24, arbitrary: fitting(schema, depth) }, { weight: 1, arbitrary: anything });
}

function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return valueOf(definitions[schema.$ref] ?? {}, depth);
  if (schema['x-kubernetes-int-or-string'] === true) return fc.constantFrom(1, '1', 'a', 1.5);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return objectOf(schema, depth);
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, depth - 1), { maxLength: 2 });
    case 'string':
      return fc.constantFrom('', 'a', '1Gi', '2026-01-02T03:04:05Z', 'YQ==', 'Always');
    case 'integer':
    case 'number':
      return fc.constantFrom(0, 1, 7, 100, 2 ** 31);
    case 'boolean':
      return fc.boolean();
    case undefined:
      return anything;
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: Schema,
  depth: number,
): fc.Arbitrary<unknown> {
  if (typeof additionalProperties === 'object')
    return fc.dictionary(fc.constantFrom('a', 'b'), valueOf(additionalProperties, depth - 1));
  const optional = Object.keys(properties).filter((key) => !required.includes(key));
  return fc
    .subarray(optional, { maxLength: Math.min(optional.length, 4) })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(
          [...required, ...chosen].map((key) => [key, valueOf(properties[key] ?? {}, depth - 1)]),
        ),
        { noNullPrototype: true },
      ),
    );
}

test('both compile every definition', () => {
  for (const name of Object.keys(definitions)) {
    schemaCompiler(definitions, name).compile(name);
    assert.equal(compileConforms(definitions, name)(undefined), false, name);
  }
});

test('a value conforms exactly if the validator finds no fault', () => {
  const names = Object.keys(definitions);
  const seen = { good: 0, bad: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...names).chain((name) => fc.tuple(fc.constant(name), valueOf({ $ref: name }, 5))),
      ([name, value]) => {
        const good = schemaCompiler(definitions, name).compile(name)(value).length === 0;
        assert.equal(compileConforms(definitions, name)(value), good, name);
        seen[good ? 'good' : 'bad']++;
      },
    ),
    { numRuns: 1000 },
  );
  assert.ok(seen.good > 100 && seen.bad > 100, JSON.stringify(seen));
});
