import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test, type TestContext } from 'node:test';
import { pino } from 'pino';
import { createStoreSet } from '../cache/store-set.js';
import { openEtcdBackend } from '../etcd/backend.js';
import type { Backend } from '../interface.js';
import { createMemoryBackend } from '../memory/backend.js';
import { bytes, put, readUntil, type BackendFixture } from '../testing/backend-fixture.js';
import { backendSuite } from '../testing/backend-suite.js';
import { etcdMissing, startEtcd, type EtcdCluster } from '../testing/etcd-server.js';
import { openLevelFixture } from '../testing/level-directory.js';
import { storeSuite } from '../testing/store-suite.js';
import { DecryptionError, encryptedBackend } from './backend.js';
import { parseEncryptionConfiguration, ruleFor, type EncryptionConfiguration } from './configuration.js';

const logger = pino({ level: 'silent' });
const secrets = { one: randomBytes(32), two: randomBytes(16) };
type Key = keyof typeof secrets;

/** Keys in their order; `plain` stands for the identity provider. */
function configuration(...keys: (Key | 'plain')[]): EncryptionConfiguration {
  const providers = keys.map((name) =>
    name === 'plain'
      ? { identity: {} }
      : { aesgcm: { keys: [{ name, secret: secrets[name].toString('base64') }] } },
  );
  return parseEncryptionConfiguration(
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['*.*'], providers }],
    }),
  );
}

async function encrypted(
  open: (t: TestContext) => Promise<BackendFixture>,
  t: TestContext,
): Promise<BackendFixture> {
  const { backend, passSeconds } = await open(t);
  const one = configuration('one');
  return { backend: encryptedBackend(backend, () => one), passSeconds };
}

backendSuite('encrypted level', (t) => encrypted(openLevelFixture, t), { runs: 10, many: 1000 });
storeSuite('encrypted level', (t) => encrypted(openLevelFixture, t), { runs: 5 });

const missing = etcdMissing();
if (missing === undefined) {
  describe('with etcd', () => {
    let cluster: Promise<EtcdCluster> | undefined;
    let roots = 0;
    const open = async (t: TestContext): Promise<BackendFixture> => {
      cluster ??= startEtcd();
      const { members } = await cluster;
      const endpoints = members.map(({ endpoint }) => endpoint);
      const root = `/encrypted-${roots++}`;
      const backend = await openEtcdBackend({ endpoints, root, logger, compactionMilliseconds: 0 });
      t.after(() => backend.close());
      return { backend, passSeconds: () => Promise.resolve() };
    };
    after(async () => (await cluster)?.stop());
    backendSuite('encrypted etcd', (t) => encrypted(open, t), { runs: 3, many: 200 });
  });
} else {
  test('encrypted etcd', { skip: missing }, () => undefined);
}

const key = '/kubevirt.io/virtualmachines/ns/a';

async function raw(backend: Backend, at = key): Promise<string> {
  return (await backend.get(at)).kv?.value.toString('latin1') ?? '';
}

test('a key is rotated: the first writes, all read, and the last one reads no more when it is gone', async () => {
  const store = createMemoryBackend();
  let now = configuration('plain');
  const backend = encryptedBackend(store, () => now);
  const read = async (): Promise<string> => (await backend.get(key)).kv?.value.toString() ?? '';
  let revision = await put(backend, key, 0, 'v1');
  assert.equal(await raw(store), 'v1');
  now = configuration('one', 'plain');
  assert.equal(await read(), 'v1');
  revision = await put(backend, key, revision, 'v2');
  assert.match(await raw(store), /^k8s:enc:aesgcm:v1:one:/);
  assert.doesNotMatch(await raw(store), /v2/);
  now = configuration('two', 'one');
  assert.equal(await read(), 'v2');
  await put(backend, key, revision, 'v3');
  assert.match(await raw(store), /^k8s:enc:aesgcm:v1:two:/);
  now = configuration('two');
  assert.equal(await read(), 'v3');
  now = configuration('one', 'plain');
  await assert.rejects(read(), (error) => {
    assert.ok(error instanceof DecryptionError);
    assert.match(error.message, /virtualmachines\/ns\/a.*"k8s:enc:aesgcm:v1:two:".*no such key/);
    return true;
  });
});

test('what can not be read fails a list and a watch, and is never left out', async () => {
  const store = createMemoryBackend();
  const one = encryptedBackend(store, () => configuration('one'));
  await put(one, key, 0, 'v1');
  const revision = await put(one, '/kubevirt.io/virtualmachines/ns/b', 0, 'v2');
  const other = secrets.one;
  secrets.one = randomBytes(32);
  const stolen = configuration('one');
  secrets.one = other;
  for (const wrong of [configuration('two'), configuration('plain'), [], stolen]) {
    const backend = encryptedBackend(store, () => wrong);
    await assert.rejects(backend.list('/'), /k8s:enc:aesgcm:v1:one:/);
    const { signal } = new AbortController();
    await assert.rejects(readUntil(backend.watch('/', 0, signal), revision), DecryptionError);
    const stores = createStoreSet({ backend, logger });
    stores.add({
      prefix: '/kubevirt.io/virtualmachines/',
      attributesOf: () => ({ namespace: 'ns', name: '', uid: '', labels: {}, fields: {}, cells: [] }),
    });
    await assert.rejects(stores.start(), DecryptionError);
    await stores.close();
  }
});

test('a value holds only where it was written', async () => {
  const store = createMemoryBackend();
  const backend = encryptedBackend(store, () => configuration('one'));
  await put(backend, key, 0, 'admin');
  const value = (await store.get(key)).kv?.value;
  const elsewhere = '/kubevirt.io/virtualmachines/ns/b';
  await store.write({ key: elsewhere, expect: 0, value });
  await assert.rejects(backend.get(elsewhere), /another, or the value was changed/);
  for (const spoiled of [value?.subarray(0, -1), value?.subarray(0, 30), bytes('k8s:enc:')]) {
    const { kv } = await store.get(key);
    await store.write({ key, expect: kv?.modRevision ?? 0, value: spoiled });
    await assert.rejects(backend.get(key), DecryptionError);
  }
});

test('AES-CBC is read as kube-apiserver wrote it, and written so that it can be read', () => {
  const [provider] = parseEncryptionConfiguration(
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [
        {
          resources: ['secrets'],
          providers: [
            { aescbc: { keys: [{ name: 'key1', secret: Buffer.alloc(32, 'k').toString('base64') }] } },
          ],
        },
      ],
    }),
  ).flatMap(({ providers }) => providers);
  assert.ok(provider !== undefined && provider !== 'identity');
  const written = Buffer.from(
    'azhzOmVuYzphZXNjYmM6djE6a2V5MTri/sN6FUfXyzzsU2hMrIEhY7kuQG9wGcfz1cUQp9pGW3NG34IW7IUi6S0R/M52QDtZF6p26aMt3WZ6nNGLVRcPD5meZWiihsWx/E6lYFpdnylAKvSeZFmpm7539Bm2QgDK6Jr3ZlCoIpeWl5Lp1ebpW1lw6S5BOdQmf2IJ2Nz5+xBX2cAb++ztE6ZKk3zOg+B3adKdlqoneXxqZE+4MiTUjGrI+zhetstBHGYwjObURVvq5J+B0Qsw8mHGv4lup4TXgbTtviiJcRu7QhZ+mALtR9LAIpXhbbohRv4+ZMDDkQ==',
    'base64',
  );
  assert.deepEqual(written.subarray(0, provider.prefix.length), provider.prefix);
  assert.match(provider.decrypt(written, key).toString('latin1'), /^k8s\0[^]*Secret[^]*vec/);
  for (const length of [0, 1, 15, 16, 100]) {
    const value = randomBytes(length);
    assert.deepEqual(provider.decrypt(provider.encrypt(value, key), key), value);
  }
  assert.throws(() => provider.decrypt(written.subarray(0, provider.prefix.length + 16), key), /cut short/);
});

test('which resources: the first rule that names one counts', () => {
  const secret = secrets.one.toString('base64');
  const aesgcm = { keys: [{ name: 'k', secret }] };
  const parsed = parseEncryptionConfiguration(`
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, virtualmachines.kubevirt.io]
  providers: [{ aesgcm: ${JSON.stringify(aesgcm)} }, { identity: {} }]
- resources: ['*.kubevirt.io']
  providers: [{ identity: {} }]
- resources: ['*.']
  providers: [{ identity: {} }, { aesgcm: ${JSON.stringify(aesgcm)} }]
`);
  const rule = (group: string, resource: string): number =>
    parsed.findIndex((each) => each === ruleFor(parsed, group, resource));
  assert.equal(rule('core', 'secrets'), 0);
  assert.equal(rule('kubevirt.io', 'virtualmachines'), 0);
  assert.equal(rule('kubevirt.io', 'kubevirts'), 1);
  assert.equal(rule('core', 'pods'), 2);
  assert.equal(rule('kubevirt.io', 'secrets'), 1);
  assert.equal(ruleFor(parsed, 'pool.kubevirt.io', 'virtualmachinepools'), undefined);
});

test('a file that is wrong says where', () => {
  const file = (providers: unknown, resources: unknown = ['secrets']): string =>
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources, providers }],
    });
  const keys = (...all: unknown[]): unknown => [{ aesgcm: { keys: all } }];
  const good = { name: 'a', secret: secrets.one.toString('base64') };
  for (const [text, message] of [
    ['{}', /kind: must be EncryptionConfiguration/],
    [file([]), /resources\[0\].providers: must name at least one/],
    [file([{ identity: {} }], ['Secrets!']), /resources\[0\].resources\[0\]/],
    [file([{ secretbox: {} }]), /secretbox is not supported: choose from aesgcm, aescbc, identity/],
    [file(keys()), /must hold at least one key/],
    [file(keys({ ...good, name: 'a:b' })), /keys\[0\].name: must be a word without colons/],
    [file(keys(good, good)), /keys\[1\].name: a is there twice/],
    [file(keys({ ...good, secret: 'AAAA' })), /secret: must be 16, 24 or 32 bytes, not 3/],
    [file(keys({ ...good, secret: '%' })), /secret: must be base64/],
  ] as const) {
    assert.throws(() => parseEncryptionConfiguration(text), message);
  }
});
