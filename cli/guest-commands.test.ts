import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { harness, instance, machine } from './testing/harness.js';

const instancePath = 'virtualmachineinstances/demo';

test('pause, unpause, soft-reboot and reset ask the running instance, however it is named', async (t) => {
  const { run, server } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Running'));
  server.objects.set(instancePath, instance('Running'));
  assert.equal(await run('pause', 'demo'), 0);
  assert.equal(await run('pause', 'vm', 'demo', '--dry-run=true'), 0);
  assert.equal(await run('unpause', 'vmi/demo', '--dry-run=false'), 0);
  assert.equal(await run('soft-reboot', 'VMI', 'demo'), 0);
  assert.equal(await run('reset', 'demo'), 0);
  assert.deepEqual(server.actions, [
    { path: `${instancePath}/pause`, body: {} },
    { path: `${instancePath}/pause`, body: { dryRun: ['All'] } },
    { path: `${instancePath}/unpause`, body: {} },
    { path: `${instancePath}/softreboot`, body: {} },
    { path: `${instancePath}/reset`, body: {} },
  ]);
});

test('a machine that does not run is told so, with what would be right', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Stopped'));
  assert.equal(await run('pause', 'demo'), 1);
  assert.match(terminal.said, /not running \(Stopped\); start it with: kubectl virt start demo -n vms/);
  assert.equal(await run('guestosinfo', 'vmi/other'), 1);
  assert.match(terminal.said, /no virtual machine instance "other"/);
});

test('what the guest tells is printed as JSON', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set(instancePath, instance('Running'));
  const answers = { guestosinfo: { hostname: 'g' }, filesystemlist: { items: [] }, userlist: { items: [1] } };
  for (const [name, answer] of Object.entries(answers)) server.objects.set(`${instancePath}/${name}`, answer);
  for (const name of ['guestosinfo', 'fslist', 'userlist']) assert.equal(await run(name, 'vmi/demo'), 0);
  const printed = Object.values(answers).map((answer) => `${JSON.stringify(answer, undefined, 2)}\n`);
  assert.equal(terminal.printed, printed.join(''));
});

test('a screenshot goes to a file or to the standard output', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'kubectl-virt-screen-'));
  t.after(() => rm(directory, { recursive: true }));
  const { run, server, terminal } = await harness(t);
  server.objects.set(instancePath, instance('Running'));
  server.objects.set(`${instancePath}/vnc/screenshot`, 'image');
  const file = join(directory, 'screen.png');
  assert.equal(await run('vnc', 'screenshot', 'vmi/demo', '-f', file, '-m'), 0);
  assert.equal(await readFile(file, 'utf8'), '"image"');
  assert.equal(await run('screenshot', 'vmi/demo', '--file', '-'), 0);
  assert.equal(terminal.printed, '"image"');
  assert.equal(await run('screenshot', 'vmi/demo'), 2);
});

test('logs print what the console has said, and follow it if asked to', async (t) => {
  const { run, server, terminal, interruption } = await harness(t);
  server.objects.set(instancePath, instance('Running'));
  const told = run('logs', 'vmi/demo');
  const history = await server.nextConsole();
  history.send(Buffer.from('booted\n'));
  history.close();
  assert.equal(await told, 0);
  assert.equal(terminal.printed, 'booted\n');
  const following = run('logs', 'vmi/demo', '-f');
  (await server.nextConsole()).send(Buffer.from('more\n'));
  await terminal.untilPrinted(/more/);
  interruption.abort(new Error('interrupted'));
  assert.equal(await following, 130);
  assert.deepEqual(server.consoles, [
    `${instancePath}/console?mode=history`,
    `${instancePath}/console?mode=read`,
  ]);
});
