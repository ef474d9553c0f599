/** Every example is accepted by the API as it stands, without unknown fields and without warnings. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Cluster } from '../../test/e2e/harness.js';

const directory = import.meta.dirname;
const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));

test('the API accepts every example', async (t) => {
  const cluster = await Cluster.start(t, { flags: ['--controllers', ''] });
  for (const file of files) {
    await t.test(file, async () => {
      const create = ['create', '--validate=strict', '--warnings-as-errors', '-f', join(directory, file)];
      const { code, stdout, stderr } = await cluster.kubectl(create);
      assert.equal(code, 0, stderr);
      assert.equal(stderr, '');
      assert.match(stdout, / created$/m);
    });
  }
});
