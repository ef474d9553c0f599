import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { podLayout, launcherErrorCodes } from '../openapi/launcher/protocol.js';
import type { MachineSettings } from '../openapi/launcher/settings.js';
import { readUntil, smallVmi } from '../test/fake-qemu/launcher-process.js';
import { launcherTests } from '../test/fake-qemu/launcher-tests.js';

const { withLauncher } = launcherTests();

test(
  'the guest agent tells about the guest',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const { guest } = await client.until((status) => status.guest !== undefined);
    assert.equal(guest?.hostname, 'fake-guest');
    assert.equal(guest.os?.['name'], 'Fake guest');
    assert.deepEqual(guest.interfaces?.[0]?.addresses, ['10.0.2.15']);
    assert.deepEqual(await client.call('guestAgent', { execute: 'guest-ping' }), {});
  }),
);

test(
  'file systems are frozen, and thawed by the guest’s end of patience or on request',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    await client.until(({ guestAgentConnected }) => guestAgentConnected);
    const frozen = await client.call('freeze', { unfreezeTimeoutSeconds: 0 });
    assert.equal(frozen.fileSystemsFrozen, true);
    assert.equal(await client.call('guestAgent', { execute: 'guest-fsfreeze-status' }), 'frozen');
    assert.equal((await client.call('unfreeze')).fileSystemsFrozen, false);
    const { sequence } = await client.call('freeze', { unfreezeTimeoutSeconds: 0.05 });
    await client.until((status) => status.sequence > sequence && status.fileSystemsFrozen === false);
    assert.equal(await client.call('guestAgent', { execute: 'guest-fsfreeze-status' }), 'thawed');
  }),
);

test(
  'a screenshot is a PNG image, and leaves no file',
  withLauncher(async (launcher, client) => {
    await assert.rejects(client.call('screenshot', { moveCursor: false }), {
      code: launcherErrorCodes.invalidState,
    });
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    await client.state('Running');
    const { png } = await client.call('screenshot', { moveCursor: true });
    assert.equal(Buffer.from(png, 'base64').subarray(1, 4).toString(), 'PNG');
    assert.deepEqual(
      readdirSync(join(launcher.podDir, podLayout.qemu)).filter((name) => name.includes('screenshot')),
      [],
    );
  }),
);

test(
  'a port of the guest is reached, and nothing listens for it afterwards',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const { qemuPid = 0 } = await client.state('Running');
    const listeners = () => readdirSync(`/proc/${qemuPid}/fd`).length;
    const before = listeners();
    const forwarded = await launcher.connect();
    const socket = await forwarded.raw('portForward', { port: 22, protocol: 'tcp' });
    const echoed = readUntil(socket, 'hello');
    socket.write('hello');
    assert.equal(await echoed, 'hello');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end();
    socket.resume();
    await closed;
    for (let wait = 0; wait < 500 && listeners() > before; wait++) await client.call('status');
    assert.equal(listeners(), before);
    const refused = (await launcher.connect()).raw('portForward', { port: 0, protocol: 'tcp' });
    await assert.rejects(refused, { code: -32602 });
  }),
);

test(
  'without an agent its commands are refused',
  withLauncher(
    async (launcher, client) => {
      await client.call('start', { vmi: smallVmi(launcher.uid) });
      await client.state('Running');
      await assert.rejects(client.call('guestAgent', { execute: 'guest-ping' }), {
        code: launcherErrorCodes.guestAgentUnavailable,
      });
    },
    { env: { FAKE_QEMU: 'no-agent' } },
  ),
);

test(
  'one console writer, many readers, and a take-over',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const first = await (await launcher.connect()).console('write');
    await readUntil(first, 'login: ');
    await assert.rejects((await launcher.connect()).console('write'), {
      code: launcherErrorCodes.consoleBusy,
    });
    const reader = await (await launcher.connect()).console('read');
    await readUntil(reader, 'login: ');
    const told = readUntil(first, 'taken over');
    const second = await (await launcher.connect()).console('force');
    await told;
    const echoed = readUntil(reader, 'hello');
    second.write('hello\n');
    await echoed;
  }),
);

test(
  'consoles that come and go, politely or not, leave nothing behind',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    await readUntil(await (await launcher.connect()).console('read'), 'login: ');
    const descriptors = () => readdirSync(`/proc/${launcher.child.pid ?? 0}/fd`).length;
    await client.call('status');
    const before = descriptors();
    for (let round = 0; round < 200; round++) {
      const console = await (await launcher.connect()).console('force');
      const closed = new Promise((resolve) => console.once('close', resolve));
      if (round % 2 === 0) console.destroy();
      else console.end();
      console.resume();
      await closed;
    }
    for (let wait = 0; wait < 500 && descriptors() > before; wait++) await client.call('status');
    assert.equal(descriptors(), before);
  }),
);

/** What the VMI says, what the configuration, and whether it is kept what the guest says. */
const logged: readonly [ofVmi: boolean | undefined, settings: Partial<MachineSettings>, kept: boolean][] = [
  [undefined, {}, true],
  [undefined, { logSerialConsole: false }, false],
  [true, { logSerialConsole: false }, true],
  [false, { logSerialConsole: true }, false],
];

for (const [logSerialConsole, settings, kept] of logged)
  test(
    `the console log with ${logSerialConsole} in the VMI, under ${JSON.stringify(settings)}`,
    withLauncher(async (launcher, client) => {
      const devices = logSerialConsole === undefined ? {} : { logSerialConsole };
      const vmi = smallVmi(launcher.uid, { domain: { devices, memory: { guest: '64Mi' } } });
      await client.call('start', { vmi, settings });
      await readUntil(await (await launcher.connect()).console('read'), 'login: ');
      await client.call('shutdown', { gracePeriodSeconds: 30 });
      await launcher.exited;
      const log = join(launcher.podDir, podLayout.consoleLog);
      assert.equal(existsSync(log), kept);
      if (kept) assert.match(readFileSync(log, 'utf8'), /login: /);
    }),
  );
