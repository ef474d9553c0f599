import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import test from 'node:test';
import { readUntil } from '../test/fake-qemu/launcher-process.js';
import { ManualClock } from '../test/fake-qemu/manual-clock.js';
import { socketPair } from '../test/fake-qemu/sockets.js';
import { Console, type ConsoleMode } from './console.js';

const none = Buffer.alloc(0);

async function setup(options: ConstructorParameters<typeof Console>[0] = {}) {
  const clock = new ManualClock();
  const console = new Console({ clock, ...options });
  const [guest, serial] = await socketPair();
  const sockets: Socket[] = [guest];
  console.connect(serial);
  serial.resume();
  const attach = async (mode: ConsoleMode) => {
    const [client, server] = await socketPair();
    sockets.push(client);
    console.attach(server, mode, none);
    return client;
  };
  const close = () => {
    console.end();
    for (const socket of sockets) socket.destroy();
    serial.destroy();
    clock.advance(60_000);
  };
  return { console, guest, attach, close, clock };
}

test('what the guest said before is replayed to a new reader, the oldest left out', async () => {
  const { guest, attach, close } = await setup({ scrollback: 8 });
  const first = await attach('read');
  guest.write('0123456789');
  await readUntil(first, '9');
  assert.equal(await readUntil(await attach('read'), '9'), '23456789');
  close();
});

test('the history ends by itself', async () => {
  const { guest, attach, close, console } = await setup();
  guest.write('booted');
  await readUntil(await attach('read'), 'booted');
  const history = await attach('history');
  assert.equal(await readUntil(history, 'booted'), 'booted');
  await once(history.resume(), 'end');
  assert.equal(console.available('write'), true);
  close();
});

test('only the writer is heard by the guest', async () => {
  const { console, guest, attach, close } = await setup();
  const reader = await attach('read');
  const writer = await attach('write');
  assert.equal(console.available('write'), false);
  reader.end('not this');
  reader.resume();
  await once(reader, 'close');
  writer.write('ls\n');
  assert.equal(await readUntil(guest, '\n'), 'ls\n');
  close();
});

test('a writer that goes makes room for the next', async () => {
  const { console, attach, close, guest } = await setup();
  const writer = await attach('write');
  guest.write('x');
  await readUntil(writer, 'x');
  writer.end();
  writer.resume();
  await once(writer, 'close');
  assert.equal(console.available('write'), true);
  close();
});

test('a reader who does not read is dropped with a message, and holds nobody', async () => {
  const { guest, attach, close } = await setup({ backlog: 64 << 10 });
  const slow = await attach('read');
  const quick = await attach('read');
  slow.pause();
  let received = 0;
  quick.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  const total = 4 << 20;
  const chunk = Buffer.alloc(64 << 10, 'x');
  for (let sent = 0; sent < total; sent += chunk.length) {
    if (!guest.write(chunk)) await once(guest, 'drain');
  }
  while (received < total) await once(quick, 'data');
  assert.equal(received, total);
  assert.match(await readUntil(slow, 'too slow'), /too slow/);
  close();
});

/** Writes until the guest is held up; answers how much. */
async function fill(guest: Socket, clock: ManualClock): Promise<number> {
  const chunk = Buffer.alloc(64 << 10, 'x');
  let sent = 0;
  while (clock.pending === 0) {
    guest.write(chunk);
    sent += chunk.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sent;
}

test('the guest waits for the only reader, who loses nothing', async () => {
  const { guest, attach, close, clock } = await setup({ backlog: 64 << 10 });
  const reader = await attach('read');
  reader.pause();
  const sent = await fill(guest, clock);
  let received = 0;
  reader.on('data', (part: Buffer) => {
    received += part.length;
  });
  reader.resume();
  while (received < sent) await once(reader, 'data');
  assert.equal(received, sent);
  assert.equal(clock.pending, 0);
  close();
});

test('a writer who does not read at all is given up after a while', async () => {
  const { guest, attach, close, clock, console } = await setup({ backlog: 64 << 10 });
  const stuck = await attach('write');
  stuck.pause();
  await fill(guest, clock);
  assert.equal(console.available('write'), false);
  clock.advance(5000);
  assert.equal(console.available('write'), true);
  const heard = readUntil(await attach('write'), 'end');
  guest.write('end');
  await heard;
  close();
});

test('the end of the guest ends all sessions', async () => {
  const { guest, attach, close } = await setup();
  const reader = await attach('read');
  const ended = once(reader, 'end');
  reader.resume();
  guest.end();
  await ended;
  close();
});
