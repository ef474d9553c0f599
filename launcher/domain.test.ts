import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import type { DomainState } from '../openapi/launcher/protocol.js';
import { smallVmi } from '../test/fake-qemu/launcher-process.js';
import { ManualClock } from '../test/fake-qemu/manual-clock.js';
import { Domain } from './domain.js';
import { failure } from './errors.js';
import type { LaunchRequest, Machine } from './launch.js';
import { silentLogger } from './log.js';
import type { QemuExit } from './qemu/process.js';
import type { JsonObject } from './qmp/messages.js';
import { StatusStore } from './status.js';

const uid = 'uid-1';

/** A domain whose QEMU is in the test's hands. */
function setup() {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-domain-'));
  const clock = new ManualClock();
  const status = new StatusStore(uid, silentLogger, join(directory, 'status.json'));
  const commands: string[] = [];
  const refusals = new Map<string, Error>();
  let request: LaunchRequest | undefined;
  let answerLaunch: (machine: Machine) => void = () => {};
  let refuseLaunch: (error: unknown) => void = () => {};
  let exit: (exit: QemuExit) => void = () => {};
  const exited = new Promise<QemuExit>((resolve) => {
    exit = resolve;
  });
  const event = (name: string, data: JsonObject = {}) => request?.onEvent({ event: name, data, time: 0 });
  const execute = (command: string) => {
    commands.push(command);
    const refusal = refusals.get(command);
    if (refusal) return Promise.reject(refusal);
    if (command === 'cont') event('RESUME');
    if (command === 'stop') event('STOP');
    return Promise.resolve({});
  };
  const machine: Machine = {
    accelerator: 'tcg',
    machineType: 'q35',
    qemu: {
      pid: 42,
      version: '7.2.0',
      qmp: { execute },
      serial: undefined,
      agent: new Socket(),
      exited,
      kill: () => {
        commands.push('SIGKILL');
        exit({ code: null, signal: 'SIGKILL' });
      },
    },
  };
  const domain = new Domain({
    launch: (asked) => {
      request = asked;
      asked.signal.addEventListener('abort', () => refuseLaunch(asked.signal.reason));
      return new Promise((resolve, reject) => {
        answerLaunch = resolve;
        refuseLaunch = reject;
      });
    },
    status,
    clock,
    logger: silentLogger,
    observer: { machineStarted: () => {}, agentChanged: () => {}, machineEnded: () => {} },
  });
  const reaches = (state: DomainState) =>
    new Promise<void>((resolve) => {
      if (status.current.state === state) {
        resolve();
        return;
      }
      const stop = status.subscribe((changed) => {
        if (changed.state !== state) return;
        stop();
        resolve();
      });
    });
  return {
    domain,
    clock,
    commands,
    refusals,
    event,
    reaches,
    exit: (code: number | null, signal: NodeJS.Signals | null = null) => exit({ code, signal }),
    launched: () => answerLaunch(machine),
    launchFails: (error: unknown) => refuseLaunch(error),
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function running() {
  const held = setup();
  held.domain.start(smallVmi(uid));
  held.launched();
  await held.reaches('Running');
  return held;
}

test('disks that cannot be made fail the domain with their reason', async () => {
  const { domain, launchFails, reaches, close } = setup();
  domain.start(smallVmi(uid));
  assert.equal(domain.status.state, 'Preparing');
  launchFails(failure('DiskFull', 'disks/root.qcow2'));
  await reaches('Failed');
  assert.equal(domain.status.reason, 'DiskFull');
  close();
});

test('a shutdown while disks are made ends the making', async () => {
  const { domain, reaches, close } = setup();
  domain.start(smallVmi(uid));
  domain.shutdown(30);
  await reaches('Shutoff');
  assert.equal(domain.status.reason, 'ShutdownRequested');
  close();
});

test('a QEMU that comes after the shutdown was asked for is killed before its guest runs', async () => {
  const { domain, commands, launched, reaches, close } = setup();
  domain.start(smallVmi(uid));
  launched();
  domain.shutdown(30);
  await reaches('Shutoff');
  assert.deepEqual(commands, ['SIGKILL']);
  close();
});

test('a full node pauses the guest and says so; unpausing goes on', async () => {
  const { domain, event, close } = await running();
  event('BLOCK_IO_ERROR', { 'node-name': 'drive-root', nospace: true, action: 'stop' });
  event('STOP');
  assert.deepEqual([domain.status.state, domain.status.reason], ['Paused', 'DiskFull']);
  assert.match(domain.status.message, /disk root/);
  await domain.unpause();
  assert.equal(domain.status.state, 'Running');
  await domain.pause();
  assert.equal(domain.status.reason, 'PausedByUser');
  close();
});

test('an error that was only reported to the guest does not colour a later pause', async () => {
  const { domain, event, close } = await running();
  event('BLOCK_IO_ERROR', { 'node-name': 'drive-root', nospace: true, action: 'report' });
  event('STOP');
  assert.equal(domain.status.reason, 'Paused');
  close();
});

test('a paused guest is let run so that it can see the power button', async () => {
  const { domain, commands, close } = await running();
  await domain.pause();
  commands.length = 0;
  domain.shutdown(30);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(commands, ['cont', 'system_powerdown']);
  assert.equal(domain.status.state, 'ShuttingDown');
  close();
});

test('the grace period ends with a kill, and a second request can shorten it', async () => {
  const { domain, clock, commands, reaches, close } = await running();
  domain.shutdown(600);
  domain.shutdown(2);
  clock.advance(2000);
  await reaches('Killed');
  assert.equal(commands.at(-1), 'SIGKILL');
  assert.match(domain.status.message, /within 2 s/);
  assert.equal(domain.status.qemuPid, undefined);
  close();
});

test('a guest that cannot be let run fails with what QEMU said', async () => {
  const { domain, refusals, launched, reaches, close } = setup();
  refusals.set('cont', new Error('Could not open drive'));
  domain.start(smallVmi(uid));
  launched();
  await reaches('Failed');
  assert.match(domain.status.message, /Could not open drive/);
  close();
});

test('what the state does not allow is refused, and the end is the end', async () => {
  const { domain, event, exit, reaches, close } = await running();
  event('SHUTDOWN', { guest: true, reason: 'guest-shutdown' });
  exit(0);
  await reaches('Shutoff');
  await assert.rejects(domain.pause(), { name: 'InvalidStateError' });
  await assert.rejects(domain.reset(), { name: 'InvalidStateError' });
  domain.shutdown(0);
  domain.start(smallVmi(uid));
  assert.equal(domain.status.state, 'Shutoff');
  close();
});
