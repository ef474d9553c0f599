import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Secret } from '../../openapi/generated/types/core_v1.js';
import { isImageError, type ImageErrorCode } from './errors.js';
import { ImagePuller, type PullerOptions, type PullRequest } from './puller.js';
import { ImageStore } from './store.js';
import {
  diskImage,
  dockerTypes,
  imageOfBlobs,
  makeImage,
  makeIndex,
  ociTypes,
  writeLayout,
} from './testing/images.js';
import { TestRegistry } from './testing/registry.js';

const disk = ['/disk/'];

async function setUp(t: TestContext, options: Partial<PullerOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-images-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const registry = await TestRegistry.start();
  t.after(() => registry.stop());
  const store = await ImageStore.open(join(directory, 'images'));
  const puller = new ImagePuller({
    store,
    layoutDirectories: [directory],
    platform: { os: 'linux', architecture: 'amd64' },
    backoff: { attempts: 4, firstDelayMilliseconds: 1, maximumDelayMilliseconds: 5 },
    ...options,
  });
  const pull = (request: Partial<PullRequest> & { image: string }, signal = new AbortController().signal) =>
    puller.pull({ wanted: disk, ...request }, signal);
  const content = async (request: Partial<PullRequest> & { image: string }): Promise<string> => {
    const { files } = await pull(request);
    const [file] = files.values();
    assert.ok(file);
    return readFile(file.path, 'utf8');
  };
  return { directory, registry, store, puller, pull, content };
}

async function rejectsWith(promise: Promise<unknown>, code: ImageErrorCode, pattern: RegExp): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(isImageError(error, code), `${code} expected: ${String(error)}`);
    assert.match(error.message, pattern);
    return true;
  });
}

async function leftovers(directory: string): Promise<string[]> {
  return readdir(join(directory, 'images', 'tmp'));
}

test('pulls a containerDisk with OCI and with Docker media types, gzip and plain', async (t) => {
  const { registry, content, directory } = await setUp(t);
  registry.addImage('vm/oci', 'v1', await diskImage('oci disk'));
  registry.addImage('vm/docker', 'v1', await diskImage('docker disk', { types: dockerTypes }));
  registry.addImage('vm/plain', 'v1', await diskImage('plain disk', { compress: (layer) => layer }));
  assert.equal(await content({ image: `${registry.host}/vm/oci:v1` }), 'oci disk');
  assert.equal(await content({ image: `${registry.host}/vm/docker:v1` }), 'docker disk');
  assert.equal(await content({ image: `${registry.host}/vm/plain:v1` }), 'plain disk');
  assert.deepEqual(await leftovers(directory), []);
});

test('takes the manifest of this platform out of an index', async (t) => {
  const { registry, content, pull } = await setUp(t);
  const images = { arm64: await diskImage('arm'), amd64: await diskImage('intel') };
  for (const [name, image] of Object.entries(images)) registry.addImage('vm/disk', name, image);
  const index = makeIndex(images);
  registry.addManifest('vm/disk', 'v1', index.bytes, ociTypes.index);
  assert.equal(await content({ image: `${registry.host}/vm/disk:v1` }), 'intel');
  const only = makeIndex({ arm64: images.arm64 }, dockerTypes);
  registry.addManifest('vm/disk', 'v2', only.bytes, dockerTypes.index);
  await rejectsWith(
    pull({ image: `${registry.host}/vm/disk:v2` }),
    'PlatformNotFound',
    /not built for linux\/amd64, only for linux\/arm64/,
  );
});

test('checks digests of blobs, of manifests and of pinned references', async (t) => {
  const { registry, pull, content, directory, store } = await setUp(t);
  const image = await diskImage('x'.repeat(10_000));
  registry.addImage('vm/disk', 'v1', image);
  registry.faults = { corrupt: true };
  await rejectsWith(pull({ image: `${registry.host}/vm/disk:v1` }), 'DigestMismatch', /hashes to sha256/);
  assert.deepEqual(await leftovers(directory), []);
  assert.deepEqual(store.list(), []);
  registry.faults = {};
  const pinned = `${registry.host}/vm/disk@${image.manifestDescriptor.digest}`;
  assert.equal((await content({ image: pinned })).length, 10_000);
  const other = await diskImage('other');
  registry.serveAs('vm/disk', image.manifestDescriptor.digest, other.manifest);
  await rejectsWith(
    pull({ image: pinned, policy: 'Always' }),
    'DigestMismatch',
    /its manifest should be sha256/,
  );
});

test('continues a broken blob where it broke, with and without ranges', async (t) => {
  const { registry, content } = await setUp(t);
  const noise = Buffer.from(Array.from({ length: 60_000 }, (_, index) => (index * 7919) % 251));
  registry.addImage('vm/disk', 'v1', await diskImage(noise, { compress: (layer) => layer }));
  registry.faults = { truncate: { bytes: 20_000, count: 2 } };
  const text = await content({ image: `${registry.host}/vm/disk:v1` });
  assert.equal(text, noise.toString('utf8'));
  assert.equal(registry.blobRanges.length, 3);
  assert.match(registry.blobRanges[1] ?? '', /^bytes=[1-9]/);
  registry.addImage('vm/disk', 'v2', await diskImage('again'.repeat(9000), { compress: (layer) => layer }));
  registry.faults = { truncate: { bytes: 20_000, count: 2 }, withoutRanges: true };
  assert.equal(await content({ image: `${registry.host}/vm/disk:v2` }), 'again'.repeat(9000));
});

test('a blob that never ends whole is a clear error', async (t) => {
  const { registry, pull } = await setUp(t);
  registry.addImage('vm/disk', 'v1', await diskImage('y'.repeat(1000), { compress: (layer) => layer }));
  registry.faults = { truncate: { bytes: 0, count: 100 } };
  await rejectsWith(
    pull({ image: `${registry.host}/vm/disk:v1` }),
    'RegistryUnreachable',
    /cannot be reached/,
  );
});

test('answers the bearer and the basic challenge with the pull secret', async (t) => {
  const { registry, content, pull } = await setUp(t);
  registry.addImage('vm/disk', 'v1', await diskImage('secret disk'));
  const image = `${registry.host}/vm/disk:v1`;
  registry.protection = { scheme: 'bearer', username: 'anna', password: 'right' };
  await rejectsWith(pull({ image }), 'Unauthorized', /without credentials/);
  await rejectsWith(
    pull({ image, pullSecrets: [secret(registry.host, 'anna', 'wrong')] }),
    'Unauthorized',
    /"anna"/,
  );
  const pullSecrets = [secret('elsewhere:5000', 'x', 'y'), secret(registry.host, 'anna', 'right')];
  assert.equal(await content({ image, pullSecrets }), 'secret disk');
  registry.protection = { scheme: 'basic', username: 'anna', password: 'right' };
  await rejectsWith(pull({ image, policy: 'Always' }), 'Unauthorized', /imagePullSecret/);
  assert.equal(await content({ image, policy: 'Always', pullSecrets }), 'secret disk');
  registry.protection = { scheme: 'bearer' };
  assert.equal(await content({ image, policy: 'Always' }), 'secret disk');
});

function secret(host: string, username: string, password: string): Secret {
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const config = JSON.stringify({ auths: { [`https://${host}/v1/`]: { auth } } });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', uid: '1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
  };
}

test('waits out 429 and server errors, and gives up in words', async (t) => {
  const { registry, content, pull } = await setUp(t);
  registry.addImage('vm/disk', 'v1', await diskImage('patience'));
  const image = `${registry.host}/vm/disk:v1`;
  registry.faults = { refuse: { status: 429, count: 100, headers: { 'Retry-After': '0' } } };
  await rejectsWith(pull({ image }), 'TooManyRequests', /429/);
  registry.faults = { refuse: { status: 503, count: 100 } };
  await rejectsWith(pull({ image }), 'RegistryUnreachable', /answers 503/);
  registry.faults = { refuse: { status: 429, count: 2, headers: { 'Retry-After': '0' } } };
  assert.equal(await content({ image }), 'patience');
});

test('what is not there: image, registry, layout', async (t) => {
  const { registry, pull, directory } = await setUp(t);
  await rejectsWith(pull({ image: `${registry.host}/no/such:v1` }), 'ImageNotFound', /manifests\/v1/);
  await rejectsWith(pull({ image: '127.0.0.1:1/no/such:v1' }), 'RegistryUnreachable', /ECONNREFUSED/);
  await rejectsWith(pull({ image: `oci:${directory}/nowhere` }), 'ImageNotFound', /no OCI layout/);
  await rejectsWith(pull({ image: 'fedora:40' }), 'InvalidReference', /names no registry/);
  await rejectsWith(pull({ image: `${registry.host}/Upper:v1` }), 'InvalidReference', /repository name/);
});

test('reads OCI layouts by tag, alone, relative, and only inside the offered directories', async (t) => {
  const { directory, content, pull } = await setUp(t);
  const one = await diskImage('one');
  await writeLayout(join(directory, 'layout'), { first: one, second: await diskImage('two') });
  await writeLayout(join(directory, 'single'), { '': await diskImage('alone') });
  assert.equal(await content({ image: `oci:${directory}/layout:second` }), 'two');
  assert.equal(await content({ image: `oci:${directory}/layout@${one.manifestDescriptor.digest}` }), 'one');
  assert.equal(await content({ image: `oci:${directory}/single` }), 'alone');
  assert.equal(await content({ image: 'oci:layout:first' }), 'one');
  await rejectsWith(pull({ image: `oci:${directory}/layout` }), 'ImageNotFound', /the tags first, second/);
  const outside = await mkdtemp(join(tmpdir(), 'nativirt-outside-'));
  t.after(() => rm(outside, { recursive: true, force: true }));
  await writeLayout(outside, { '': one });
  await symlink(outside, join(directory, 'link'));
  for (const image of [`oci:${outside}`, `oci:${directory}/link`, 'oci:../../../etc']) {
    await rejectsWith(pull({ image }), 'ImageNotFound', /inside/);
  }
});

test('pull policies', async (t) => {
  const { registry, pull, content } = await setUp(t);
  const image = `${registry.host}/vm/disk:v1`;
  await rejectsWith(pull({ image, policy: 'Never' }), 'NotPresent', /Never/);
  registry.addImage('vm/disk', 'v1', await diskImage('old'));
  assert.equal(await content({ image, policy: 'IfNotPresent' }), 'old');
  registry.addImage('vm/disk', 'v1', await diskImage('new'));
  const before = registry.requests.length;
  assert.equal(await content({ image, policy: 'IfNotPresent' }), 'old');
  assert.equal(await content({ image, policy: 'Never' }), 'old');
  assert.equal(registry.requests.length, before);
  assert.equal(await content({ image, policy: 'Always' }), 'new');
  assert.equal((await pull({ image, policy: 'Always' })).downloaded, false);
});

test('concurrent pulls share one download; it ends when nobody waits', async (t) => {
  const { registry, pull, directory } = await setUp(t);
  registry.addImage('vm/disk', 'v1', await diskImage('shared'));
  const image = `${registry.host}/vm/disk:v1`;
  const gate: { open: () => void } = { open: () => undefined };
  registry.faults = { hold: new Promise<void>((resolve) => (gate.open = resolve)) };
  const leaver = new AbortController();
  const left = pull({ image }, leaver.signal);
  const others = [pull({ image }), pull({ image }), pull({ image })];
  leaver.abort();
  await assert.rejects(left, { name: 'AbortError' });
  gate.open();
  for (const { files } of await Promise.all(others)) assert.equal(files.size, 1);
  assert.equal(registry.requests.filter((path) => path.includes('/manifests/')).length, 1);
  assert.equal(registry.requests.filter((path) => path.includes('/blobs/')).length, 1);

  registry.addImage('vm/disk', 'v2', await diskImage('unwanted'));
  registry.faults = { hold: new Promise<void>(() => undefined) };
  const last = new AbortController();
  const abandoned = pull({ image: `${registry.host}/vm/disk:v2` }, last.signal);
  setImmediate(() => {
    last.abort();
  });
  await assert.rejects(abandoned, { name: 'AbortError' });
  registry.faults = {};
  assert.equal((await pull({ image: `${registry.host}/vm/disk:v2` })).downloaded, true);
  assert.deepEqual(await leftovers(directory), []);
});

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

test('a layer larger than the disk is refused before it is fetched', async (t) => {
  const { registry, pull } = await setUp(t);
  const image = await diskImage('small');
  const manifest = JSON.parse(image.manifest.toString()) as { layers: { size: number }[] };
  const [layer] = manifest.layers;
  assert.ok(layer);
  layer.size = Number.MAX_SAFE_INTEGER;
  registry.addManifest('vm/disk', 'v1', Buffer.from(JSON.stringify(manifest)), ociTypes.manifest);
  await rejectsWith(
    pull({ image: `${registry.host}/vm/disk:v1` }),
    'DiskFull',
    /needs 9007199254740991 bytes/,
  );
  assert.equal(
    registry.requests.some((path) => path.includes('/blobs/')),
    false,
  );
});

test('the store survives a restart', async (t) => {
  const { directory, registry, pull } = await setUp(t);
  registry.addImage('vm/disk', 'v1', await diskImage('kept'));
  const image = `${registry.host}/vm/disk:v1`;
  await pull({ image });
  await mkdir(join(directory, 'images', 'tmp', 'pull-old'));
  const store = await ImageStore.open(join(directory, 'images'));
  assert.deepEqual(await leftovers(directory), []);
  const puller = new ImagePuller({ store, layoutDirectories: [] });
  const request = { image, wanted: disk, policy: 'Never' } as const;
  assert.equal(await puller.isPresent(request), true);
  const { files } = await puller.pull(request, new AbortController().signal);
  const file = files.get('/disk/');
  assert.ok(file);
  assert.equal(await readFile(file.path, 'utf8'), 'kept');
});

test('a redirect to a blob store is followed, without the registry’s token', async (t) => {
  const { registry, content } = await setUp(t);
  const store = await TestRegistry.start();
  t.after(() => store.stop());
  const image = await diskImage('elsewhere');
  registry.addImage('vm/disk', 'v1', image);
  store.addImage('vm/disk', 'v1', image);
  registry.protection = { scheme: 'bearer' };
  registry.faults = { redirect: `http://${store.host}` };
  assert.equal(await content({ image: `${registry.host}/vm/disk:v1` }), 'elsewhere');
  assert.deepEqual(registry.blobAuthorizations, ['Bearer granted']);
  assert.deepEqual(store.blobAuthorizations, [undefined]);
  registry.faults = { redirect: `http://${registry.host}` };
  registry.addImage('vm/disk', 'v2', await diskImage('in a circle'));
  await assert.rejects(content({ image: `${registry.host}/vm/disk:v2` }), /redirects more than 5 times/);
});

test('a registry that stops answering is given up', async (t) => {
  const { registry, pull } = await setUp(t, { idleTimeoutMilliseconds: 20 });
  registry.addImage('vm/disk', 'v1', await diskImage('never'));
  registry.faults = { hold: new Promise<void>(() => undefined) };
  await rejectsWith(
    pull({ image: `${registry.host}/vm/disk:v1` }),
    'RegistryUnreachable',
    /no data for 0.02 s/,
  );
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
