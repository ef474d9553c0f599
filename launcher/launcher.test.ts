import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { podLayout, launcherErrorCodes } from '../openapi/launcher/protocol.js';
import {
  bundleLauncher,
  LauncherProcess,
  readUntil,
  smallVmi,
  type LauncherConnection,
  type LauncherProcessOptions,
} from '../test/fake-qemu/launcher-process.js';

let bundle = '';
let removeBundle = () => {};
before(async () => {
  ({ bundle, remove: removeBundle } = await bundleLauncher());
});
after(() => removeBundle());

type Body = (launcher: LauncherProcess, client: LauncherConnection) => Promise<void>;

/** Runs `body` with a launcher and a client that subscribes. */
const withLauncher =
  (body: Body, options: Omit<LauncherProcessOptions, 'bundle'> = {}) =>
  async () => {
    const launcher = new LauncherProcess({ bundle, ...options });
    try {
      const client = await launcher.connect();
      await client.call('subscribe');
      await body(launcher, client);
    } finally {
      await launcher.remove();
    }
  };

test(
  'a virtual machine starts, tells its status and powers off when asked',
  withLauncher(async (launcher, client) => {
    const vmi = smallVmi(launcher.uid);
    assert.equal((await client.call('start', { vmi })).state, 'Preparing');
    const running = await client.state('Running');
    assert.equal(running.qemuVersion, '7.2.0');
    assert.ok(existsSync(`/proc/${running.qemuPid ?? 0}`));
    assert.equal((await client.call('start', { vmi })).state, 'Running', 'start is idempotent');
    assert.equal((await client.call('shutdown', { gracePeriodSeconds: 30 })).state, 'ShuttingDown');
    const last = await client.state('Shutoff');
    assert.equal(last.reason, 'ShutdownRequested');
    assert.equal(await launcher.exited, 0);
    assert.deepEqual(launcher.lastStatus(), JSON.parse(JSON.stringify(last)));
  }),
);

test(
  'a guest that powers off by itself is Shutoff',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const console = await (await launcher.connect()).console('write');
    await readUntil(console, 'login: ');
    console.write('poweroff\n');
    assert.equal((await client.state('Shutoff')).reason, 'GuestShutdown');
    assert.equal(await launcher.exited, 0);
  }),
);

test(
  'a panic is a failure',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const console = await (await launcher.connect()).console('write');
    await readUntil(console, 'login: ');
    console.write('panic\n');
    assert.equal((await client.state('Failed')).reason, 'GuestPanicked');
    assert.equal(await launcher.exited, 1);
  }),
);

test(
  'a guest that ignores the power button is killed after the grace period',
  withLauncher(
    async (launcher, client) => {
      await client.call('start', { vmi: smallVmi(launcher.uid) });
      await client.state('Running');
      await client.call('shutdown', { gracePeriodSeconds: 1 });
      assert.equal((await client.state('Killed')).reason, 'GracePeriodExceeded');
      assert.equal(await launcher.exited, 0);
    },
    { env: { FAKE_QEMU: 'ignore-powerdown' } },
  ),
);

test(
  'a grace period of 0 kills at once',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const { qemuPid } = await client.state('Running');
    await client.call('shutdown', { gracePeriodSeconds: 0 });
    assert.equal((await client.state('Killed')).reason, 'Killed');
    assert.equal(existsSync(`/proc/${qemuPid ?? 0}`), false);
  }),
);

test(
  'SIGTERM is a shutdown with the grace period of the VMI',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid, { terminationGracePeriodSeconds: 17 }) });
    await client.state('Running');
    launcher.child.kill('SIGTERM');
    assert.match((await client.state('ShuttingDown')).message, /17 s/);
    await client.state('Shutoff');
    assert.equal(await launcher.exited, 0);
  }),
);

test(
  'SIGTERM before the VMI has come ends the launcher',
  withLauncher(async (launcher, client) => {
    launcher.child.kill('SIGTERM');
    assert.equal((await client.state('Shutoff')).reason, 'ShutdownRequested');
    assert.equal(await launcher.exited, 0);
  }),
);

test(
  'a launcher without any client goes on, and ends with its guest',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    await client.state('Running');
    client.socket.destroy();
    const console = await (await launcher.connect()).console('write');
    await readUntil(console, 'login: ');
    console.write('poweroff\n');
    assert.equal(await launcher.exited, 0);
    assert.equal(launcher.lastStatus().state, 'Shutoff');
  }),
);

test(
  'QEMU that refuses its command line is a failure with its own words',
  withLauncher(
    async (launcher, client) => {
      await client.call('start', { vmi: smallVmi(launcher.uid) });
      const { reason, message } = await client.state('Failed');
      assert.equal(reason, 'QEMURefused');
      assert.match(message, /told to refuse by FAKE_QEMU/);
      assert.equal(await launcher.exited, 1);
    },
    { env: { FAKE_QEMU: 'refuse' } },
  ),
);

test(
  'QEMU that dies is a failure with the end of its log',
  withLauncher(
    async (launcher, client) => {
      await client.call('start', { vmi: smallVmi(launcher.uid) });
      const { reason, message } = await client.state('Failed');
      assert.equal(reason, 'QEMUCrashed');
      assert.match(message, /exit status 134.*told to crash/);
    },
    { env: { FAKE_QEMU: 'crash' } },
  ),
);

test(
  'QEMU that is not installed is a failure that says how to install it',
  withLauncher(
    async (launcher, client) => {
      await client.call('start', { vmi: smallVmi(launcher.uid) });
      const { reason, message } = await client.state('Failed');
      assert.equal(reason, 'QEMUMissing');
      assert.match(message, /qemu-system-x86/);
    },
    { qemu: '/nowhere/qemu-system-x86_64' },
  ),
);

test(
  'a field that cannot be honoured is refused by its name',
  withLauncher(async (launcher, client) => {
    const watchdog = { name: 'dog', diag288: {} };
    const domain = { devices: { watchdog }, memory: { guest: '64Mi' } };
    await client.call('start', { vmi: smallVmi(launcher.uid, { domain }) });
    const { reason, message } = await client.state('Failed');
    assert.equal(reason, 'UnsupportedField');
    assert.match(message, /^spec\.domain\.devices\.watchdog\.diag288 /);
  }),
);

test(
  'another VMI, an unknown method and wrong parameters are refused',
  withLauncher(async (_launcher, client) => {
    await assert.rejects(client.call('start', { vmi: smallVmi('other') }), {
      code: launcherErrorCodes.wrongVirtualMachineInstance,
    });
    await assert.rejects(client.call('pause'), { code: launcherErrorCodes.invalidState });
    await assert.rejects(client.call('nonsense' as 'pause'), { code: -32601 });
    await assert.rejects(client.call('shutdown', { gracePeriodSeconds: -1 }), { code: -32602 });
    assert.equal((await client.call('status')).state, 'Waiting');
  }),
);

test(
  'garbage on the control socket is answered with an error, and does no harm',
  withLauncher(async (launcher, client) => {
    const other = await launcher.connect();
    other.socket.on('error', () => other.socket.destroy());
    const closed = new Promise((resolve) => other.socket.once('close', resolve));
    other.socket.write('garbage\n{"jsonrpc":"2.0"}\n\u0000\u00ff\n');
    other.socket.write(Buffer.alloc(5 << 20, 'x'));
    await closed;
    assert.equal((await client.call('status')).state, 'Waiting');
  }),
);

test(
  'pause, unpause and reset',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    await client.state('Running');
    const paused = await client.call('pause');
    assert.deepEqual([paused.state, paused.reason], ['Paused', 'PausedByUser']);
    assert.equal((await client.call('unpause')).state, 'Running');
    assert.equal((await client.call('reset')).state, 'Running');
  }),
);

test(
  'a VMI with startStrategy Paused waits, and ends without having run',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid, { startStrategy: 'Paused' }) });
    assert.equal((await client.state('Paused')).reason, 'StartStrategy');
    await client.call('shutdown', { gracePeriodSeconds: 30 });
    assert.equal((await client.state('Shutoff')).reason, 'ShutdownRequested');
  }),
);

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
  'a guest with an agent reboots by it',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const { sequence } = await client.until(({ guestAgentConnected }) => guestAgentConnected);
    assert.equal((await client.call('softReboot')).state, 'Running');
    const gone = await client.until((status) => status.sequence > sequence && !status.guestAgentConnected);
    await client.until((status) => status.sequence > gone.sequence && status.guestAgentConnected);
    assert.equal((await client.call('status')).state, 'Running');
  }),
);

test(
  'a guest without an agent reboots by its power button, and the next power-off ends it',
  withLauncher(
    async (launcher, client) => {
      await client.call('start', { vmi: smallVmi(launcher.uid) });
      const { qemuPid } = await client.state('Running');
      const console = await (await launcher.connect()).console('write');
      await readUntil(console, 'login: ');
      const again = readUntil(console, 'login: ');
      await client.call('softReboot');
      await again;
      assert.deepEqual(
        [(await client.call('status')).state, (await client.call('status')).qemuPid],
        ['Running', qemuPid],
      );
      console.write('poweroff\n');
      assert.equal((await client.state('Shutoff')).reason, 'GuestShutdown');
    },
    { env: { FAKE_QEMU: 'no-agent' } },
  ),
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

test(
  'the console log keeps what the guest says, when the VMI asks for it',
  withLauncher(async (launcher, client) => {
    const domain = { devices: { logSerialConsole: true }, memory: { guest: '64Mi' } };
    await client.call('start', { vmi: smallVmi(launcher.uid, { domain }) });
    await readUntil(await (await launcher.connect()).console('read'), 'login: ');
    await client.call('shutdown', { gracePeriodSeconds: 30 });
    await launcher.exited;
    assert.match(readFileSync(join(launcher.podDir, podLayout.consoleLog), 'utf8'), /login: /);
  }),
);

test(
  'a killed launcher takes its QEMU with it',
  withLauncher(async (launcher, client) => {
    await client.call('start', { vmi: smallVmi(launcher.uid) });
    const { qemuPid = 0 } = await client.state('Running');
    assert.equal(alive(qemuPid), true);
    launcher.child.kill('SIGKILL');
    await launcher.exited;
    for (let wait = 0; wait < 500 && alive(qemuPid); wait++)
      await new Promise((done) => setTimeout(done, 10));
    assert.equal(alive(qemuPid), false);
  }),
);

/** A zombie that nobody has waited for is not alive. */
function alive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test(
  'a second launcher in the same pod directory gives up',
  withLauncher(async (launcher, client) => {
    const second = new LauncherProcess({ bundle, podDir: launcher.podDir });
    assert.equal(await second.exited, 1);
    assert.equal((await client.call('status')).state, 'Waiting');
  }),
);

const swtpm = spawnSync('swtpm', ['--version']).status === 0 ? false : 'swtpm is not installed';

test(
  'what serves QEMU ends with it, even if QEMU never spoke to it',
  { skip: swtpm },
  withLauncher(async (launcher, client) => {
    const domain = { devices: { tpm: {} }, memory: { guest: '64Mi' } };
    await client.call('start', { vmi: smallVmi(launcher.uid, { domain }) });
    await client.state('Running');
    await client.call('shutdown', { gracePeriodSeconds: 0 });
    await client.state('Killed');
    assert.notEqual(await launcher.exited, null);
  }),
);
