import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { virtiofsdProgram, type VirtiofsdOptions } from './virtiofsd.js';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nativirt-shared,')));
after(() => rmSync(directory, { recursive: true }));

const c = 'virtiofsd version 7.2.22 (Debian 1:7.2+dfsg-7)\nusing FUSE kernel interface version 7.36\n';
const rust = 'virtiofsd 1.13.2\n';

async function commandLine(version: string, isRoot: boolean, hasNamespaces = true): Promise<string[]> {
  const options: VirtiofsdOptions = {
    searchPath: process.env['PATH'] ?? '',
    isRoot,
    places: [process.execPath],
    ask: (_, argv) => Promise.resolve(argv[0] === '--version' ? version : hasNamespaces ? '' : undefined),
  };
  const shared = { tag: 'shared', directory, socket: 'qemu/virtiofs0.sock' };
  const { binary, argv } = await virtiofsdProgram(shared, options);
  return [binary, ...argv].map((word) => word.replace(/.*[/]unshare$/, 'unshare'));
}

const escaped = directory.replaceAll(',', '\\,');
const cOptions = ['--fd=0', '-o', `source=${escaped}`, '-o', 'cache=auto', '-o', 'sandbox=chroot'];
const rustOptions = ['--fd=0', `--shared-dir=${directory}`, '--cache=auto'];
const asRoot = ['unshare', '--map-root-user', '--'];

test('virtiofsd shuts itself into its directory as root, if only of a user namespace', async () => {
  assert.deepEqual(await commandLine(c, true), [process.execPath, ...cOptions]);
  assert.deepEqual(await commandLine(c, false), [...asRoot, process.execPath, ...cOptions]);
  const chroot = [process.execPath, ...rustOptions, '--sandbox=chroot'];
  assert.deepEqual(await commandLine(rust, true), chroot);
  assert.deepEqual(await commandLine(rust, false), [...asRoot, ...chroot]);
});

test('without user namespaces the pod is the sandbox, for a virtiofsd that can do without', async () => {
  assert.deepEqual(await commandLine(rust, false, false), [
    process.execPath,
    ...rustOptions,
    '--sandbox=none',
  ]);
  await assert.rejects(commandLine(c, false, false), {
    reason: 'HelperFailed',
    message: /user namespace.*seccomp/,
  });
});

test('a directory that is not there, and a node without virtiofsd', async () => {
  const options = { searchPath: '/nowhere', isRoot: true };
  const shared = { tag: 'shared', directory: `${directory}/nothing`, socket: 'qemu/virtiofs0.sock' };
  await assert.rejects(virtiofsdProgram(shared, { ...options, places: [process.execPath] }), {
    reason: 'VolumeMissing',
  });
  await assert.rejects(virtiofsdProgram(shared, { ...options, places: ['virtiofsd'] }), {
    reason: 'HelperMissing',
  });
});
