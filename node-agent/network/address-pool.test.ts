import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseRange } from '../../openapi/ip-address.js';
import { AddressPool } from './address-pool.js';
import { NetworkError } from './interface.js';

function fileFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-addresses-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return join(directory, 'addresses.json');
}

test('a pod keeps its addresses, also when the agent starts anew', async (t) => {
  const file = fileFor(t);
  const ranges = [parseRange('10.1.0.0/24'), parseRange('fd00::/112')];
  const first = new AddressPool(file, ranges);
  assert.deepEqual(first.gateways, ['10.1.0.1/24', 'fd00::1/112']);
  const [one, two] = await Promise.all([first.take('one'), first.take('two')]);
  assert.deepEqual(one, ['10.1.0.2/24', 'fd00::2/112']);
  assert.deepEqual(two, ['10.1.0.3/24', 'fd00::3/112']);
  const second = new AddressPool(file, ranges);
  assert.deepEqual(await second.take('two'), two);
  assert.deepEqual(await second.pods(), ['one', 'two']);
});

test('an address that was given back is the last to be given again', async (t) => {
  const pool = new AddressPool(fileFor(t), [parseRange('10.1.0.0/29')]);
  const given = new Map<string, string | undefined>();
  for (const uid of ['a', 'b', 'c']) given.set(uid, (await pool.take(uid))[0]);
  await pool.release('a');
  await pool.release('unknown');
  for (const uid of ['d', 'e', 'f']) given.set(uid, (await pool.take(uid))[0]);
  assert.deepEqual(Object.fromEntries(given), {
    a: '10.1.0.2/29',
    b: '10.1.0.3/29',
    c: '10.1.0.4/29',
    d: '10.1.0.5/29',
    e: '10.1.0.6/29',
    f: '10.1.0.2/29',
  });
  await assert.rejects(pool.take('g'), (error) => {
    assert.ok(error instanceof NetworkError);
    assert.match(error.message, /all 5 addresses .* in use/);
    return true;
  });
  await pool.release('c');
  assert.deepEqual(await pool.take('g'), ['10.1.0.4/29']);
});
