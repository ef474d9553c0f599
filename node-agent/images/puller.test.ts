import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { ensureCa } from '../../apiserver/pki/authority.js';
import type { Secret } from '../../openapi/generated/types/core_v1.js';
import { ImagePuller } from './puller.js';
import { ImageStore } from './store.js';
import { diskImage, dockerTypes, makeIndex, ociTypes, writeLayout } from './testing/images.js';
import { disk, leftovers, rejectsWith, setUp } from './testing/puller.js';
import { TestRegistry } from './testing/registry.js';

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

test('https registries: by the system’s authorities, and by those named for the registry', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-registry-ca-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const authority = await ensureCa(directory);
  const tls = authority.issue({ commonName: 'registry', ips: ['127.0.0.1'], usages: ['server'], days: 1 });
  const registry = await TestRegistry.start(tls);
  t.after(() => registry.stop());
  registry.addImage('vm/disk', 'v1', await diskImage('over https'));
  const image = `${registry.host}/vm/disk:v1`;
  const endpoint = `https://${registry.host}`;
  const strict = await setUp(t, { registries: { [registry.host]: { endpoint } } });
  await rejectsWith(strict.pull({ image }), 'RegistryUnreachable', /certificate/);
  const trusting = await setUp(t, { registries: { [registry.host]: { endpoint, ca: authority.cert } } });
  assert.equal(await trusting.content({ image }), 'over https');
  const mirrored = await setUp(t, { registries: { 'elsewhere.example': { endpoint, ca: authority.cert } } });
  assert.equal(await mirrored.content({ image: 'elsewhere.example/vm/disk:v1' }), 'over https');
});
