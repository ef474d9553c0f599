import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { readUntil, smallVmi } from '../test/fake-qemu/launcher-process.js';
import { launcherTests } from '../test/fake-qemu/launcher-tests.js';

const { withLauncher } = launcherTests();

const swtpm = spawnSync('swtpm', ['--version']).status === 0 ? false : 'swtpm is not installed';

/** A zombie that nobody has waited for is not alive. */
function alive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

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
