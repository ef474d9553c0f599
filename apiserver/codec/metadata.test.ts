import assert from 'node:assert/strict';
import test from 'node:test';
import { MetadataError, readMetadata } from './metadata.js';

test('known fields are kept in the stored order, unknown ones reported', () => {
  const unknown: string[] = [];
  const metadata = readMetadata(
    { labels: { a: 'b' }, colour: 'red', selfLink: '/x', creationTimestamp: null, name: 'n' },
    unknown,
  );
  assert.deepEqual(Object.keys(metadata), ['name', 'labels']);
  assert.deepEqual(unknown, ['metadata.colour']);
});

test('an absent metadata is an empty one', () => {
  assert.deepEqual(readMetadata(undefined, []), {});
});

for (const [what, metadata] of Object.entries({
  'a list': [],
  'a string': 'name',
  'a numeric name': { name: 5 },
  'a numeric label': { labels: { a: 1 } },
  'labels that are a list': { labels: ['a'] },
  'a finalizer that is an object': { finalizers: [{}] },
  'an owner that is a string': { ownerReferences: ['x'] },
  'a controller that is a string': { ownerReferences: [{ controller: 'yes' }] },
  'a date that is none': { creationTimestamp: 'yesterday' },
  'managed fields of an unknown operation': { managedFields: [{ operation: 'Dance' }] },
})) {
  test(`${what} is refused`, () => {
    assert.throws(() => readMetadata(metadata, []), MetadataError);
  });
}

test('an empty entry empties the managed fields', () => {
  assert.deepEqual(readMetadata({ managedFields: [{}] }, []), { managedFields: [] });
});
