import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { FieldSet, formatPath, keyElement, valueElement } from './field-set.js';

const element = fc.oneof(
  fc.constantFrom('f:a', 'f:b', 'f:c'),
  fc.constantFrom('x', 'y').map((name) => keyElement({ name })),
  fc.constantFrom(1, 'p').map(valueElement),
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
const keys = (set: FieldSet): Set<string> => new Set([...set.paths()].map((path) => path.join('/')));

/** As the set is after it was stored: undecoded. */
const stored = (set: FieldSet): FieldSet => FieldSet.fromOwnFieldsV1(set.toFieldsV1());

test('union, intersection and difference are those of the sets of paths', () => {
  const reading = fc.constantFrom((set: FieldSet) => set, stored);
  fc.assert(
    fc.property(paths, paths, reading, (a, b, read) => {
      const [left, right] = [read(FieldSet.fromPaths(a)), read(FieldSet.fromPaths(b))];
      const [leftKeys, rightKeys] = [keys(left), keys(right)];
      assert.deepEqual(keys(left.union(right)), new Set([...leftKeys, ...rightKeys].sort()));
      assert.deepEqual(
        keys(left.intersection(right)),
        new Set([...leftKeys].filter((key) => rightKeys.has(key))),
      );
      assert.deepEqual(
        keys(left.difference(right)),
        new Set([...leftKeys].filter((key) => !rightKeys.has(key))),
      );
    }),
  );
});

test('what was stored is written again as a set of the same paths is', () => {
  fc.assert(
    fc.property(paths, paths, paths, (a, b, c) => {
      const [first, second, third] = [a, b, c].map((list) => FieldSet.fromPaths(list));
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      const change = (set: FieldSet): unknown =>
        set
          .difference(second)
          .union(third)
          .recursiveDifference(FieldSet.fromPaths([['f:a']]))
          .toFieldsV1();
      assert.equal(JSON.stringify(change(stored(first))), JSON.stringify(change(first)));
    }),
  );
});

test('what nothing was taken from stays the same set', () => {
  const set = stored(FieldSet.fromPaths([['f:a'], ['f:a', 'f:b'], ['f:c']]));
  assert.equal(set.difference(FieldSet.fromPaths([['f:b'], ['f:a', 'f:c']])), set);
});

test('the wire form reads back as the same set', () => {
  fc.assert(
    fc.property(paths, (list) => {
      const set = FieldSet.fromPaths(list);
      assert.ok(FieldSet.fromFieldsV1(JSON.parse(JSON.stringify(set.toFieldsV1()))).equals(set));
    }),
  );
});

test('the keys of an element have one order only', () => {
  const set = FieldSet.fromFieldsV1({ 'k:{"b":1,"a":2}': {} });
  assert.ok(set.has(['k:{"a":2,"b":1}']));
});

test('paths print as Kubernetes prints them', () => {
  assert.equal(formatPath(['f:spec', 'f:l', keyElement({ name: 'x' }), 'f:v']), '.spec.l[name="x"].v');
  assert.equal(formatPath(['f:set', valueElement('p')]), '.set[="p"]');
});

test('what is no field set is refused', () => {
  assert.throws(() => FieldSet.fromFieldsV1({ nonsense: {} }), /not a path element/);
  assert.throws(() => FieldSet.fromFieldsV1([]), TypeError);
});
