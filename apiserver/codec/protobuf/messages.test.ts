import assert from 'node:assert/strict';
import test from 'node:test';
import { fieldsOf, messageNames, messageOf } from './messages.js';
import { readerOf } from './values.js';

/** How many messages hold one another below this one. Throws if there is no end to it. */
function depthOf(message: string, above: readonly string[] = []): number {
  assert.ok(!above.includes(message), `${[...above, message].join(' > ')} is a circle`);
  const below = [...fieldsOf(message).values()].filter(({ type }) => readerOf(type) === undefined);
  return 1 + Math.max(0, ...below.map(({ type }) => depthOf(type, [...above, message])));
}

test('each type that is named exists, and no message holds itself', () => {
  const depths = messageNames().map((name) => depthOf(name));
  assert.ok(depths.length > 200);
  assert.ok(Math.max(...depths) < 16, String(Math.max(...depths)));
});

test('fields have a number and a name each', () => {
  for (const message of messageNames()) {
    const fields = [...fieldsOf(message)];
    const numbers = fields.map(([number]) => number);
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
      message,
    );
    const names = fields.filter(([, { shape }]) => shape !== 'inline').map(([, { name }]) => name);
    assert.equal(new Set(names).size, names.length, message);
    for (const [number, { name, type }] of fields) {
      assert.ok(Number.isInteger(number) && number > 0, `${message} ${number}`);
      assert.match(name, /^(~|[A-Za-z]\w*)$/, message);
      assert.match(type, /^\w+$/, `${message} ${name}`);
    }
  }
});

test('kinds that are read have a message', () => {
  assert.equal(messageOf('v1', 'Namespace'), 'Namespace');
  assert.equal(messageOf('v1', 'Role'), undefined);
  assert.equal(messageOf('kubevirt.io/v1', 'DeleteOptions'), 'DeleteOptions');
});
