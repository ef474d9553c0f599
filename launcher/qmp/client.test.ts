import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { ManualClock } from '../../test/fake-qemu/manual-clock.js';
import { socketPair } from '../../test/fake-qemu/sockets.js';
import { LineSplitter } from '../lines.js';
import { QmpClient } from './client.js';
import type { QmpEvent } from './messages.js';

interface Command {
  readonly id: number;
  readonly execute?: string;
  readonly 'exec-oob'?: string;
}

/** A QMP server whose answers the test decides. */
async function setup(answer: (command: Command, server: Socket) => unknown = () => ({})) {
  const [ours, server] = await socketPair();
  const clock = new ManualClock();
  const events: QmpEvent[] = [];
  const commands: Command[] = [];
  const lines = new LineSplitter(1 << 20);
  server.on('data', (chunk: Buffer) => {
    for (const line of lines.push(chunk)) {
      const command = JSON.parse(line) as Command;
      commands.push(command);
      const value = command.execute === 'qmp_capabilities' ? {} : answer(command, server);
      if (value !== undefined) server.write(`${JSON.stringify({ return: value, id: command.id })}\r\n`);
    }
  });
  server.on('error', () => server.destroy());
  server.write(
    `${JSON.stringify({ QMP: { version: { qemu: { major: 9, minor: 1, micro: 2 } }, capabilities: ['oob'] } })}\r\n`,
  );
  const opened = await QmpClient.open(ours, (event) => events.push(event), { clock });
  return {
    ...opened,
    server,
    clock,
    events,
    commands,
    close: () => [ours, server].forEach((s) => s.destroy()),
  };
}

test('the greeting tells the version, and oob is enabled where it is offered', async () => {
  const { client, greeting, commands, close } = await setup();
  assert.equal(greeting.version, '9.1.2');
  await client.execute('query-status', undefined, { outOfBand: true });
  assert.deepEqual(
    commands.map(({ execute, 'exec-oob': outOfBand }) => execute ?? outOfBand),
    ['qmp_capabilities', 'query-status'],
  );
  assert.equal(commands[1]?.['exec-oob'], 'query-status');
  close();
});

test('answers find their commands by id, in whatever order they come', async () => {
  const held: Command[] = [];
  const { client, close } = await setup((command, server) => {
    held.push(command);
    if (held.length < 2) return undefined;
    for (const { id, execute } of held.reverse())
      server.write(`${JSON.stringify({ return: execute, id })}\n`);
    return undefined;
  });
  assert.deepEqual(await Promise.all([client.execute('one'), client.execute('two')]), ['one', 'two']);
  close();
});

test('a refusal carries QEMU’s class and words', async () => {
  const { client, close } = await setup(({ id }, server) => {
    server.write(`${JSON.stringify({ error: { class: 'DeviceNotFound', desc: 'no disk' }, id })}\n`);
    return undefined;
  });
  await assert.rejects(client.execute('device_del'), {
    kind: 'refused',
    errorClass: 'DeviceNotFound',
    message: /device_del: no disk/,
  });
  close();
});

test('a command without an answer times out, and can be aborted', async () => {
  const { client, clock, close } = await setup(() => undefined);
  const slow = client.execute('stop', undefined, { timeoutMs: 3000 });
  clock.advance(3000);
  await assert.rejects(slow, { kind: 'timeout' });
  const controller = new AbortController();
  const aborted = client.execute('stop', undefined, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(aborted, { message: 'enough' });
  close();
});

test('a connection that closes fails what is in flight and what comes after', async () => {
  const { client, close } = await setup((_command, server) => {
    server.destroy();
    return undefined;
  });
  await assert.rejects(client.execute('quit'), { kind: 'closed' });
  await assert.rejects(client.execute('cont'), { kind: 'closed' });
  close();
});

test('events come in their order, between answers', async () => {
  const { client, events, close } = await setup((_command, server) => {
    const event = (name: string) =>
      JSON.stringify({ event: name, data: { n: 1 }, timestamp: { seconds: 2, microseconds: 3000 } });
    server.write(`${event('STOP')}\n${event('RESUME')}\n`);
    return {};
  });
  await client.execute('query-status');
  assert.deepEqual(events, [
    { event: 'STOP', data: { n: 1 }, time: 2003 },
    { event: 'RESUME', data: { n: 1 }, time: 2003 },
  ]);
  close();
});

const qemu = 'qemu-system-x86_64';
const installed = spawnSync(qemu, ['--version']).status === 0;

test('a real QEMU', { skip: installed ? false : `${qemu} is not installed` }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-qmp-'));
  const path = join(directory, 'qmp.sock');
  const server = createServer();
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(path, () => resolve()));
  const argv = [
    '-M',
    'none',
    '-nodefaults',
    '-display',
    'none',
    '-chardev',
    `socket,id=q,path=${path}`,
    '-mon',
    'chardev=q,mode=control',
  ];
  const child = spawn(qemu, argv, { stdio: 'inherit' });
  try {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const shutdowns: unknown[] = [];
    const onEvent = ({ event, data }: QmpEvent) => event === 'SHUTDOWN' && shutdowns.push(data['reason']);
    const { client, greeting } = await QmpClient.open(await connected, onEvent);
    assert.match(greeting.version, /^\d+\.\d+\.\d+$/);
    const schema = await client.execute('query-qmp-schema');
    assert.ok(Array.isArray(schema) && schema.length > 500);
    await assert.rejects(client.execute('no-such-command'), { errorClass: 'CommandNotFound' });
    await client.execute('quit');
    assert.equal(await ended, 0);
    assert.deepEqual(shutdowns, ['host-qmp-quit']);
  } finally {
    child.kill('SIGKILL');
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
