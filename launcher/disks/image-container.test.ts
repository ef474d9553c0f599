import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { imageHolder } from '../../openapi/launcher/pod.js';
import { LauncherError } from '../errors.js';
import { imageFile, imageHolders } from './image-container.js';

/** A /proc in which process 7 holds the image of volume `root`. */
function setUp(t: TestContext): { proc: string; root: string } {
  const proc = realpathSync(mkdtempSync(join(tmpdir(), 'nativirt-proc-')));
  t.after(() => rmSync(proc, { recursive: true, force: true }));
  const root = join(proc, '7/root');
  mkdirSync(join(root, 'disk'), { recursive: true });
  mkdirSync(join(proc, '8'));
  writeFileSync(join(proc, '7/cmdline'), `${imageHolder.path}\0volumeroot\0`);
  writeFileSync(join(proc, '8/cmdline'), 'node\0volumeroot\0');
  return { proc, root };
}

const refused = (reason: string) => (error: unknown) =>
  error instanceof LauncherError && error.reason === reason;

test('the file of a path, or the only one of a folder', async (t) => {
  const { proc, root } = setUp(t);
  writeFileSync(join(root, 'disk/debian.qcow2'), 'x');
  assert.equal(await imageFile('volumeroot', '/disk/', proc), join(root, 'disk/debian.qcow2'));
  assert.equal(await imageFile('volumeroot', '/disk/debian.qcow2', proc), join(root, 'disk/debian.qcow2'));
  assert.equal(await imageFile('volumeother', '/disk/', proc), undefined);
  assert.deepEqual(await imageHolders(proc), [7]);
  await assert.rejects(imageFile('volumeroot', '/disk/missing', proc), refused('ImageNotFound'));
  await assert.rejects(imageFile('volumeroot', '/disk/debian.qcow2/x', proc), refused('ImageNotFound'));
  await assert.rejects(imageFile('volumeroot', '/none/', proc), refused('ImageNotFound'));
  writeFileSync(join(root, 'disk/second'), 'x');
  await assert.rejects(imageFile('volumeroot', '/disk/', proc), refused('ImageRefused'));
});

test('no link and no dots lead out of the image', async (t) => {
  const { proc, root } = setUp(t);
  const secret = join(proc, 'secret');
  writeFileSync(secret, 'x');
  writeFileSync(join(root, 'disk/real'), 'x');
  symlinkSync(secret, join(root, 'disk/absolute'));
  symlinkSync('../../../secret', join(root, 'disk/relative'));
  symlinkSync('loop', join(root, 'disk/loop'));
  symlinkSync('/disk', join(root, 'here'));
  for (const path of ['/disk/absolute', '/disk/relative', '/../../secret', '/disk/../../../secret'])
    await assert.rejects(imageFile('volumeroot', path, proc), refused('ImageNotFound'), path);
  await assert.rejects(imageFile('volumeroot', '/disk/loop', proc), refused('ImageRefused'));
  assert.equal(await imageFile('volumeroot', '/here/real', proc), join(root, 'disk/real'));
});
