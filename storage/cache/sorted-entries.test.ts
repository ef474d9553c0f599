import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry } from '../interface.js';
import { SortedEntries } from './sorted-entries.js';

const attributes = { namespace: undefined, name: '', uid: '', labels: {}, fields: {}, cells: [] };
const entry = (key: string, revision = 1): Entry => ({ key, revision, bytes: Buffer.alloc(0), attributes });

function keysOf(sorted: SortedEntries, from: string, end?: string): string[] {
  const keys: string[] = [];
  sorted.walk(from, end, ({ key }) => keys.push(key) > 0);
  return keys;
}

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('it does what a sorted map does', () => {
  const key = fc.oneof(fc.nat({ max: 40 }).map(String), fc.constantFrom('\uff5e', '\u{1f600}', 'a', 'ab'));
  const command = fc.record({ deletes: fc.boolean(), key });
  fc.assert(
    fc.property(
      fc.array(key),
      fc.array(command, { maxLength: 200 }),
      key,
      key,
      (initial, commands, from, end) => {
        const model = new Map(initial.map((name) => [name, entry(name)]));
        const sorted = SortedEntries.from([...model.values()].sort((a, b) => bytewise(a.key, b.key)));
        commands.forEach((command, i) => {
          const previous = model.get(command.key);
          if (command.deletes) {
            model.delete(command.key);
            assert.equal(sorted.delete(command.key), previous);
          } else {
            const next = entry(command.key, i + 2);
            model.set(command.key, next);
            assert.equal(sorted.set(next), previous);
          }
          assert.equal(sorted.get(command.key), model.get(command.key));
          assert.equal(sorted.size, model.size);
        });
        const expected = [...model.keys()].filter((name) => bytewise(name, from) >= 0).sort(bytewise);
        assert.deepEqual(keysOf(sorted, from), expected);
        const before = expected.filter((name) => bytewise(name, end) < 0);
        assert.deepEqual(keysOf(sorted, from, end), before);
      },
    ),
  );
});

test('many entries, inserted in any order and removed again, stay in order', () => {
  const sorted = new SortedEntries();
  const keys = Array.from({ length: 5000 }, (_, i) => String((i * 7919) % 5000).padStart(4, '0'));
  for (const key of keys) assert.equal(sorted.set(entry(key)), undefined);
  assert.deepEqual(keysOf(sorted, ''), keys.toSorted());
  assert.deepEqual(keysOf(sorted, '4998'), ['4998', '4999']);
  assert.deepEqual(keysOf(sorted, '0300', '2300'), keys.toSorted().slice(300, 2300));
  for (const key of keys) assert.equal(sorted.delete(key)?.key, key);
  assert.equal(sorted.size, 0);
  assert.deepEqual(keysOf(sorted, ''), []);
});

test('a walk stops when it is told to', () => {
  const sorted = SortedEntries.from(['a', 'b', 'c'].map((key) => entry(key)));
  const seen: string[] = [];
  sorted.walk('a', undefined, ({ key }) => {
    seen.push(key);
    return key !== 'b';
  });
  assert.deepEqual(seen, ['a', 'b']);
});
