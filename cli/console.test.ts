import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import type { RawData, WebSocket } from 'ws';
import { harness, instance, machine } from './testing/harness.js';

const escape = '\x1d';

/** Collects what a socket gets until it matches. */
async function received(socket: WebSocket, pattern: RegExp): Promise<string> {
  let got = '';
  while (!pattern.test(got)) {
    const [data] = (await once(socket, 'message')) as [RawData];
    got += Buffer.isBuffer(data) ? data.toString() : '';
  }
  return got;
}

test('types, prints, and leaves at Ctrl+]', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Running'));
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  const running = run('console', 'demo');
  const socket = await server.nextConsole();
  assert.equal(socket.protocol, 'plain.kubevirt.io');
  const typed = received(socket, /root/);
  socket.send(Buffer.from('demo login: '));
  await terminal.untilPrinted(/demo login: /);
  assert.equal(terminal.raw, true);
  terminal.input.write('root');
  assert.equal(await typed, 'root');
  terminal.input.write(`exit${escape}not sent`);
  assert.equal(await running, 0);
  assert.equal(terminal.raw, false);
  assert.deepEqual(server.consoles, ['virtualmachineinstances/demo/console']);
});

test('connects again after the connection was lost, and says so', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Running'));
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  const running = run('console', 'vm/demo', '--force');
  (await server.nextConsole()).terminate();
  const second = await server.nextConsole();
  await terminal.untilSaid(/Reconnected/);
  // A machine that was restarted is another instance.
  server.objects.set('virtualmachineinstances/demo', instance('Running', 'vmi-2'));
  second.terminate();
  await server.nextConsole();
  await terminal.untilSaid(/It was restarted/);
  terminal.input.write(escape);
  assert.equal(await running, 0);
  // Only the first time: the console would go back and forth with another that is forced.
  assert.deepEqual(
    server.consoles.map((path) => path.split('?')[1]),
    ['mode=force', undefined, undefined],
  );
});

test('ends when the machine has stopped', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Running'));
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  const running = run('console', 'demo');
  const socket = await server.nextConsole();
  server.objects.set('virtualmachines/demo', machine('Stopped'));
  server.objects.delete('virtualmachineinstances/demo');
  socket.close();
  assert.equal(await running, 0);
  assert.match(terminal.said, /demo has stopped \(Stopped\)/);
});

test('waits for a machine that starts', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Starting'));
  const running = run('console', 'demo');
  await terminal.untilSaid(/Waiting for demo to start \(Starting\)/);
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  await server.nextConsole();
  await terminal.untilSaid(/Connected/);
  terminal.input.write(escape);
  assert.equal(await running, 0);
});

test('gives up waiting after --timeout', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachineinstances/demo', instance('Scheduling'));
  assert.equal(await run('console', 'vmi/demo', '--timeout', '10ms'), 1);
  assert.match(terminal.said, /gave up after 0.01 s: demo is still Scheduling/);
});

test('a machine that does not run, and one that is not there', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Stopped'));
  assert.equal(await run('console', 'demo'), 1);
  assert.match(terminal.said, /not running \(Stopped\); start it with: kubectl virt start demo -n vms/);
  assert.equal(await run('console', 'other'), 1);
  assert.match(terminal.said, /there is no virtual machine "other" in namespace "vms"/);
  assert.equal(await run('console', 'vmi/demo'), 1);
  assert.match(terminal.said, /there is no virtual machine instance "demo"/);
});

test('somebody else is at the console', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  server.consoleRefusal = { code: 409, reason: 'Conflict', message: 'the console of demo is in use' };
  assert.equal(await run('console', 'vmi/demo'), 1);
  assert.match(terminal.said, /the console of demo is in use\. Watch with --read-only, or take .* --force/);
});

test('a refusal is told as the server words it', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  server.consoleRefusal = { code: 403, reason: 'Forbidden', message: 'user "eve" cannot get the console' };
  assert.equal(await run('console', 'vmi/demo'), 1);
  assert.match(terminal.said, /user "eve" cannot get the console \(Forbidden\)/);
});

test('read-only sends nothing', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  const running = run('console', 'vmi/demo', '--read-only');
  const socket = await server.nextConsole();
  const messages: RawData[] = [];
  socket.on('message', (data) => messages.push(data));
  await terminal.untilSaid(/Connected/);
  const closed = once(socket, 'close');
  terminal.input.write(`typed${escape}`);
  assert.equal(await running, 0);
  await closed;
  assert.deepEqual(messages, []);
  assert.deepEqual(server.consoles, ['virtualmachineinstances/demo/console?mode=read']);
});

test('from a pipe: bytes go through as they are, and the end of input does not end the console', async (t) => {
  const { run, server, terminal } = await harness(t, false);
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  const running = run('console', 'vmi/demo');
  const socket = await server.nextConsole();
  const typed = received(socket, /done/);
  terminal.input.end(`a${escape}done`);
  assert.equal(await typed, `a${escape}done`);
  socket.send(Buffer.from('bye'));
  await terminal.untilPrinted(/bye/);
  server.objects.set('virtualmachineinstances/demo', instance('Succeeded'));
  socket.close();
  assert.equal(await running, 0);
});

test('a signal ends it and restores the terminal', async (t) => {
  const { run, server, terminal, interruption } = await harness(t);
  server.objects.set('virtualmachineinstances/demo', instance('Running'));
  const running = run('console', 'vmi/demo');
  await server.nextConsole();
  await terminal.untilSaid(/Connected/);
  interruption.abort(new Error('SIGTERM'));
  assert.equal(await running, 130);
  assert.equal(terminal.raw, false);
});
