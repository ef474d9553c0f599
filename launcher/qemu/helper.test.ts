import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { afterEach, beforeEach } from 'node:test';
import { eventually } from '../../test/e2e/harness.js';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { startHelper, type HelperProgram } from './helper.js';
import { prepareEfi } from './ovmf.js';

let podDir = '';
beforeEach(() => {
  podDir = mkdtempSync(join(tmpdir(), 'nativirt-helper-'));
  process.chdir(podDir);
  for (const folder of ['qemu', 'disks', 'volumes']) mkdirSync(folder);
});
afterEach(() => {
  process.chdir('/');
  rmSync(podDir, { recursive: true, force: true });
});

const searchPath = process.env['PATH'] ?? '';
const script = (code: string): HelperProgram => ({
  name: 'helper',
  binary: process.execPath,
  argv: ['-e', code],
  socket: 'qemu/helper.sock',
});
const never = new AbortController().signal;

/** What who listens on the helper's socket says. */
async function greeting(): Promise<string> {
  const socket = connect('qemu/helper.sock');
  return String(await socket.setEncoding('utf8').toArray());
}

const greeter = `require('net').createServer((socket) => socket.end('hello'))`;

test('a helper is there when its socket is, and ends when it is told to', async () => {
  const listening = script(`setTimeout(() => ${greeter}.listen('qemu/helper.sock'), 50)`);
  const helper = await startHelper(listening, searchPath, never);
  assert.ok(existsSync('qemu/helper.sock'));
  helper.kill();
});

test('a helper may be given its socket', async () => {
  const given = { ...script(`${greeter}.listen({ fd: 0 })`), listener: 'launcher' } as const;
  const helper = await startHelper(given, searchPath, never);
  assert.equal(await greeting(), 'hello');
  helper.kill();
  await eventually('it answers no more', async () => (await greeting().catch(() => '')) === '');
  assert.equal(helper.failure, undefined);
});

test('a helper that was given its socket and ended tells why', async () => {
  const given = {
    ...script(`console.error('no namespaces here'); process.exit(3)`),
    listener: 'launcher',
  } as const;
  const helper = await startHelper(given, searchPath, never);
  await eventually('it has ended', () => helper.failure !== undefined);
  assert.match(helper.failure?.message ?? '', /exit status 3: no namespaces here/);
});

test('a helper that ends early is told with its own words', async () => {
  await assert.rejects(
    startHelper(script(`console.error('no state here'); process.exit(3)`), searchPath, never),
    {
      reason: 'HelperFailed',
      message: /exit status 3: no state here/,
    },
  );
  assert.match(readFileSync('qemu/helper.log', 'utf8'), /no state here/);
});

test('a helper that is not wanted any more is killed', async () => {
  const stop = new AbortController();
  const started = startHelper(script('setInterval(() => {}, 1000)'), searchPath, stop.signal);
  stop.abort(new Error('the virtual machine was ended'));
  await assert.rejects(started, { message: 'the virtual machine was ended' });
});

const ovmf = existsSync('/usr/share/OVMF/OVMF_VARS_4M.fd') ? false : 'ovmf is not installed';

test('EFI variables that are to outlive the pod lie where that does', { skip: ovmf }, async () => {
  const spec = (persistent: boolean) => ({
    domain: {
      memory: { guest: '64Mi' },
      devices: {},
      firmware: { bootloader: { efi: { secureBoot: false, persistent } } },
    },
  });
  const installed = (path: string) => path.startsWith('/usr/share/OVMF/') || path.startsWith('disks/');
  const variables = async (persistent: boolean) =>
    (
      await prepareEfi(
        smallVmi('u', spec(persistent)),
        (path) => installed(path) || path.startsWith('volumes/'),
      )
    )?.variables;
  assert.equal(await variables(false), 'disks/efi-variables.fd');
  await assert.rejects(variables(true), { reason: 'VolumeMissing', message: /volumes\/persistent-state/ });
  mkdirSync('volumes/persistent-state');
  assert.equal(await variables(true), 'volumes/persistent-state/efi-variables.fd');
});

test('a confidential guest has firmware without variables', async () => {
  const spec = {
    domain: {
      memory: { guest: '64Mi' },
      devices: {},
      firmware: { bootloader: { efi: { secureBoot: false } } },
      launchSecurity: { snp: {} },
    },
  };
  const efi = await prepareEfi(smallVmi('u', spec), (path) => path === '/usr/share/OVMF/OVMF.amdsev.fd');
  assert.deepEqual(efi, { code: '/usr/share/OVMF/OVMF.amdsev.fd', variables: undefined });
  await assert.rejects(
    prepareEfi(smallVmi('u', spec), () => false),
    { reason: 'FirmwareMissing' },
  );
});
