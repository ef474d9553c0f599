import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { ImageErrorCode } from './errors.js';
import { diskImage, imageOfBlobs, makeImage, writeLayout } from './testing/images.js';
import { disk, rejectsWith, setUp } from './testing/puller.js';

async function extracting(t: TestContext, layers: Parameters<typeof makeImage>[0], wanted = disk) {
  const { directory, content, pull } = await setUp(t);
  await writeLayout(join(directory, 'layout'), { '': await makeImage(layers) });
  const request = { image: `oci:${directory}/layout`, wanted };
  return { content: () => content(request), pull: () => pull(request) };
}

test('upper layers win, whiteouts hide, opaque directories hide everything below', async (t) => {
  const replaced = await extracting(t, [
    [{ name: './disk/a.img', content: 'lower' }],
    [{ name: 'disk/a.img', content: 'upper' }],
  ]);
  assert.equal(await replaced.content(), 'upper');
  const hidden = await extracting(t, [
    [{ name: 'disk/a.img', content: 'a' }],
    [{ name: 'disk/.wh.a.img' }, { name: 'disk/b.img', content: 'b' }],
  ]);
  assert.equal(await hidden.content(), 'b');
  const opaque = await extracting(t, [
    [{ name: 'disk/a.img', content: 'a' }],
    [{ name: 'disk/c.img', content: 'c' }, { name: 'disk/.wh..wh..opq' }],
  ]);
  assert.equal(await opaque.content(), 'c');
  const removed = await extracting(t, [[{ name: 'disk/a.img', content: 'a' }], [{ name: '.wh.disk' }]]);
  await rejectsWith(removed.pull(), 'NoDisk', /put one file into the directory \/disk/);
});

test('takes named files for kernelBoot and custom paths', async (t) => {
  const { directory, pull } = await setUp(t);
  const image = await makeImage([
    [
      { name: 'boot/vmlinuz', content: 'kernel' },
      { name: 'boot/initrd.img', content: 'initrd' },
      { name: 'disk/other', content: 'ignored' },
    ],
  ]);
  await writeLayout(join(directory, 'layout'), { '': image });
  const request = { image: `oci:${directory}/layout`, wanted: ['/boot/vmlinuz', '/boot/initrd.img'] };
  const { files } = await pull(request);
  const kernel = files.get('/boot/vmlinuz');
  assert.ok(kernel);
  assert.equal(await readFile(kernel.path, 'utf8'), 'kernel');
  assert.equal((await stat(kernel.path)).mode & 0o777, 0o444);
  await rejectsWith(pull({ ...request, wanted: ['/boot/none'] }), 'NoDisk', /has no file \/boot\/none/);
});

test('refuses what is no plain file, what is ambiguous and what escapes', async (t) => {
  const cases: [Parameters<typeof makeImage>[0], ImageErrorCode, RegExp][] = [
    [
      [[{ name: 'disk/a', type: 'symlink', linkname: '/etc/shadow' }]],
      'UnsafeEntry',
      /symbolic link to \/etc\/shadow/,
    ],
    [[[{ name: 'disk/a', type: 'link', linkname: '/etc/shadow' }]], 'UnsafeEntry', /hard link/],
    [[[{ name: 'disk/a', type: 'block-device' }]], 'UnsafeEntry', /a device/],
    [[[{ name: 'disk', type: 'symlink', linkname: '/' }]], 'UnsafeEntry', /\/disk is a symbolic link/],
    [[[{ name: 'disk/../../x', content: 'x' }]], 'UnsafeEntry', /leaves its root/],
    [
      [
        [
          { name: 'disk/a', content: 'a' },
          { name: 'disk/b', content: 'b' },
        ],
      ],
      'AmbiguousDisk',
      /\/disk\/a, \/disk\/b/,
    ],
    [[[{ name: 'etc/passwd', content: 'x' }]], 'NoDisk', /has no disk/],
  ];
  for (const [layers, code, pattern] of cases) {
    await rejectsWith((await extracting(t, layers)).pull(), code, pattern);
  }
});

test('refuses layers that are no tar, no gzip, or cut short', async (t) => {
  const whole = (await diskImage('z'.repeat(5000))).blobs;
  const [gzip] = [...whole.values()].slice(1);
  assert.ok(gzip);
  const cases: Buffer[] = [
    Buffer.from('this is no archive at all'.repeat(100)),
    Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.from('not gzip')]),
    gzip.subarray(0, gzip.length - 20),
  ];
  for (const blob of cases) {
    const { directory, pull } = await setUp(t);
    await writeLayout(join(directory, 'layout'), { '': imageOfBlobs([blob]) });
    await rejectsWith(pull({ image: `oci:${directory}/layout` }), 'Malformed', /a layer is not/);
  }
});

test('raw disks keep their holes', async (t) => {
  const { directory, pull } = await setUp(t);
  const content = Buffer.concat([Buffer.from('head'), Buffer.alloc(4 * 1024 * 1024), Buffer.from('tail')]);
  await writeLayout(join(directory, 'layout'), { '': await diskImage(content) });
  const { files } = await pull({ image: `oci:${directory}/layout` });
  const file = files.get('/disk/');
  assert.ok(file);
  assert.ok((await readFile(file.path)).equals(content));
  assert.ok((await stat(file.path)).blocks * 512 < 1024 * 1024);
});

test('zstd layers go through the program zstd, or are refused with its name', async (t) => {
  const { directory, pull, content } = await setUp(t);
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
  const image = await diskImage('zstd disk', { compress: (layer) => Buffer.concat([magic, layer]) });
  await writeLayout(join(directory, 'layout'), { '': image });
  const path = process.env['PATH'];
  t.after(() => (process.env['PATH'] = path));
  const programs = join(directory, 'bin');
  await mkdir(programs);
  process.env['PATH'] = programs;
  const request = { image: `oci:${directory}/layout` };
  await rejectsWith(pull(request), 'Unsupported', /install the program "zstd"/);
  await writeFile(join(programs, 'zstd'), '#!/bin/sh\nexec /usr/bin/tail -c +5\n', { mode: 0o755 });
  assert.equal(await content(request), 'zstd disk');
  await writeFile(join(programs, 'zstd'), '#!/bin/sh\nexit 1\n');
  await writeLayout(join(directory, 'other'), {
    '': await diskImage('other', { compress: (layer) => Buffer.concat([magic, layer]) }),
  });
  await rejectsWith(pull({ image: `oci:${directory}/other` }), 'Malformed', /not valid zstd/);
});
