import assert from 'node:assert/strict';
import test from 'node:test';
import { Expectations } from './expectations.js';
import { isOlder } from './object-key.js';
import { FakeClock } from './testing/fake-clock.js';
import { pod } from './testing/scripted-client.js';

test('a key is satisfied when everything that was written for it has been seen', () => {
  const expectations = new Expectations(new FakeClock());
  assert.ok(expectations.satisfied('k'));
  expectations.expectCreation('k', 'pod');
  expectations.expectDeletion('k', 'uid1');
  expectations.expectVersion('k', 'uid2', '20');
  expectations.creationObserved('k', 'pod');
  expectations.deletionObserved('k', 'uid1');
  assert.ok(!expectations.satisfied('k'));
  expectations.versionObserved('k', 'uid2', '9');
  assert.ok(!expectations.satisfied('k'), '9 is older than 20');
  expectations.versionObserved('k', 'uid2', '21');
  assert.ok(expectations.satisfied('k'));
});

test('what is deleted will not show its last version', () => {
  const expectations = new Expectations(new FakeClock());
  expectations.expectVersion('k', 'uid', '5');
  expectations.deletionObserved('k', 'uid');
  assert.ok(expectations.satisfied('k'));
});

test('a write is awaited only where the informer still shows an older state', () => {
  const expectations = new Expectations(new FakeClock());
  const at = (version: number, uid = 'uid') => pod('a', version, uid);
  expectations.expectWritten('k', at(9), at(10));
  expectations.expectWritten('k', at(9), at(8, 'another'));
  expectations.expectWritten('k', at(9), undefined);
  assert.ok(expectations.satisfied('k'));
  expectations.expectWritten('k', at(9), at(8));
  assert.ok(!expectations.satisfied('k'));
});

test('keys do not mix', () => {
  const expectations = new Expectations(new FakeClock());
  expectations.expectCreation('a', 'pod');
  expectations.creationObserved('b', 'pod');
  assert.ok(!expectations.satisfied('a'));
  assert.ok(expectations.satisfied('b'));
  expectations.forget('a');
  assert.ok(expectations.satisfied('a'));
});

test('an event that never comes delays work, but does not stop it', async () => {
  const clock = new FakeClock();
  const expectations = new Expectations(clock);
  expectations.expectCreation('k', 'pod');
  await clock.advance(300_000);
  assert.ok(!expectations.satisfied('k'));
  await clock.advance(expectations.lapsesIn('k'));
  assert.ok(expectations.satisfied('k'));
});

test('resource versions compare as numbers of any size', () => {
  assert.ok(isOlder('9', '10'));
  assert.ok(isOlder('99999999999999999998', '99999999999999999999'));
  assert.ok(!isOlder('10', '10'));
  assert.ok(!isOlder('11', '10'));
  assert.ok(isOlder('opaque', 'other'), 'what can not be compared is only equal to itself');
});
