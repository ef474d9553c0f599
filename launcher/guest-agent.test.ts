import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import test from 'node:test';
import { ManualClock } from '../test/fake-qemu/manual-clock.js';
import { socketPair } from '../test/fake-qemu/sockets.js';
import { GuestAgent } from './guest-agent.js';

async function setup() {
  const clock = new ManualClock();
  const [guest, ours] = await socketPair();
  const agent = new GuestAgent(ours, clock);
  ours.resume();
  agent.setConnected(true);
  return { agent, clock, guest, close: () => [guest, ours].forEach((socket) => socket.destroy()) };
}

interface Request {
  readonly execute: string;
  readonly arguments?: { readonly id?: number };
}

/** The next request that the agent gets, without delimiters. */
async function request(guest: Socket): Promise<Request> {
  let seen = '';
  while (!seen.includes('\n')) seen += ((await once(guest, 'data')) as [Buffer])[0].toString('latin1');
  return JSON.parse(seen.slice(seen.lastIndexOf('\u00ff') + 1)) as Request;
}

async function answerSync(guest: Socket, before = ''): Promise<void> {
  const { execute, arguments: parameters } = await request(guest);
  assert.equal(execute, 'guest-sync-delimited');
  guest.write(Buffer.from(`${before}\xff{"return": ${parameters?.id ?? 0}}\n`, 'latin1'));
}

test('both sides are brought in step before the first command', async () => {
  const { agent, guest, close } = await setup();
  const answer = agent.execute('guest-ping');
  await answerSync(guest, '{"return": 99}\n{"half an ans\n');
  assert.equal((await request(guest)).execute, 'guest-ping');
  guest.write('{"return": {}}\n');
  assert.deepEqual(await answer, {});
  close();
});

test('commands go one after the other, and a refusal does not stop the next', async () => {
  const { agent, guest, close } = await setup();
  const first = agent.execute('guest-nothing');
  const second = agent.execute('guest-ping');
  await answerSync(guest);
  assert.equal((await request(guest)).execute, 'guest-nothing');
  guest.write('{"error": {"class": "CommandNotFound", "desc": "no such command"}}\n');
  await assert.rejects(first, { kind: 'refused', message: /no such command/ });
  assert.equal((await request(guest)).execute, 'guest-ping');
  guest.write('{"return": {}}\n');
  assert.deepEqual(await second, {});
  close();
});

test('after a missed answer the late one is not taken for the next', async () => {
  const { agent, clock, guest, close } = await setup();
  const slow = agent.execute('guest-get-osinfo', undefined, 1000);
  await answerSync(guest);
  await request(guest);
  clock.advance(1000);
  await assert.rejects(slow, { kind: 'timeout' });
  const next = agent.execute('guest-ping');
  await answerSync(guest, '{"return": {"name": "late"}}\n');
  await request(guest);
  guest.write('{"return": {}}\n');
  assert.deepEqual(await next, {});
  close();
});

test('an agent that goes away fails the command that waits, and the next at once', async () => {
  const { agent, guest, close } = await setup();
  const waiting = agent.execute('guest-ping');
  await request(guest);
  agent.setConnected(false);
  await assert.rejects(waiting, { kind: 'disconnected' });
  await assert.rejects(agent.execute('guest-ping'), { kind: 'disconnected' });
  close();
});
