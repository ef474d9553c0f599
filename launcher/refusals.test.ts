import assert from 'node:assert/strict';
import test from 'node:test';
import { launcherErrorCodes } from '../openapi/launcher/protocol.js';
import { LauncherProcess, smallVmi } from '../test/fake-qemu/launcher-process.js';
import { launcherTests } from '../test/fake-qemu/launcher-tests.js';

const { withLauncher } = launcherTests();

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
  'a second launcher in the same pod directory gives up',
  withLauncher(async (launcher, client, bundle) => {
    const second = new LauncherProcess({ bundle, podDir: launcher.podDir });
    assert.equal(await second.exited, 1);
    assert.equal((await client.call('status')).state, 'Waiting');
  }),
);
