import assert from 'node:assert/strict';
import test from 'node:test';
import { commands } from './commands.js';
import { complete } from './complete.js';
import { harness } from './testing/harness.js';

const machines = { list: () => Promise.resolve({ vms: ['web', 'db'], vmis: ['web'] }) };
const completed = (...words: string[]): Promise<string[]> =>
  complete(words, commands, { namespace: { type: 'string' } }, machines);

test('commands, flags and names of machines are completed', async () => {
  assert.deepEqual(await completed('so'), ['soft-reboot']);
  assert.deepEqual(await completed('create', ''), ['vm']);
  assert.deepEqual(await completed('console', '--r'), ['--read-only']);
  assert.deepEqual(await completed('stop', 'w'), ['web']);
  assert.deepEqual(await completed('ssh', 'vm/'), ['vm/web', 'vm/db']);
  assert.deepEqual(await completed('vnc', 's'), ['screenshot']);
  assert.deepEqual(await completed('completion', 'z'), ['zsh']);
  assert.deepEqual(await completed('fly', ''), []);
});

test('there is a script for each shell, and no server is needed for it', async (t) => {
  const { run, terminal, server } = await harness(t);
  await server.close();
  for (const shell of ['bash', 'zsh', 'fish']) assert.equal(await run('completion', shell), 0);
  assert.equal(terminal.printed.match(/kubectl-virt __complete/g)?.length, 3);
  assert.equal(await run('completion', 'dos'), 2);
  terminal.printed = '';
  assert.equal(await run('__complete', 'start', ''), 0);
  assert.equal(terminal.printed, ':4\n');
});
