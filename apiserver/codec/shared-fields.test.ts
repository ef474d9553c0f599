import assert from 'node:assert/strict';
import test from 'node:test';
import { SharedFields } from './shared-fields.js';

const text = '{"f:spec":{".":{},"f:a":{}}}';

test('the same text is the same object, which nobody can change, and its text again', () => {
  const shared = new SharedFields();
  const fields = shared.parse(text);
  assert.deepEqual(fields, { 'f:spec': { '.': {}, 'f:a': {} } });
  assert.equal(shared.parse(text), fields);
  assert.equal(shared.stringify(fields), text);
  assert.ok(Object.isFrozen(fields) && Object.isFrozen(fields['f:spec']));
});

test('what came long ago is let go of', () => {
  const shared = new SharedFields();
  const fields = shared.parse(text);
  for (let other = 0; other < 1000; other++) shared.parse(`{"f:${other}":{}}`);
  assert.notEqual(shared.parse(text), fields);
});

test('other forms and long texts are parsed each time', () => {
  const shared = new SharedFields();
  const long = JSON.stringify({ [`f:${'x'.repeat(20_000)}`]: {} });
  for (const other of ['{ "f:a": {} }', long]) {
    const fields = shared.parse(other);
    assert.notEqual(shared.parse(other), fields);
    assert.deepEqual(JSON.parse(shared.stringify(fields)), JSON.parse(other));
  }
});
