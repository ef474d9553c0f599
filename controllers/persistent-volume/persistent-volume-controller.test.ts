import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
} from '../../openapi/generated/types/core_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { persistentVolumeClaims, persistentVolumes, pods, storageClasses } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness } from '../testing/harness.js';
import { createLocalDirectories, type LocalDirectories } from './local-directories.js';
import { createPersistentVolumeController } from './persistent-volume-controller.js';
import { standardStorageClass } from './storage-class.js';

class MemoryDirectories implements LocalDirectories {
  readonly present = new Set<string>();
  full = false;

  pathOf(volume: string): string {
    return `/volumes/${volume}`;
  }

  create(volume: string): Promise<void> {
    if (this.full) return Promise.reject(new Error('no space left on device'));
    this.present.add(volume);
    return Promise.resolve();
  }

  remove(volume: string): Promise<void> {
    this.present.delete(volume);
    return Promise.resolve();
  }
}

const key = { namespace: 'default', name: 'data' };

async function started(t: TestContext) {
  const harness = new Harness();
  t.after(() => harness.stop());
  const directories = new MemoryDirectories();
  const create = (deps: ControllerDependencies) => createPersistentVolumeController(deps, directories);
  await harness.client.create(storageClasses, standardStorageClass);
  await harness.start(create);
  return { harness, directories, create };
}

async function claim(harness: Harness, spec: PersistentVolumeClaimSpec = {}): Promise<PersistentVolumeClaim> {
  const created = await harness.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: key,
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
  await settle();
  return created;
}

const found = (harness: Harness): PersistentVolumeClaim | undefined =>
  harness.client.find(persistentVolumeClaims, key);

test('a claim of the standard class gets a directory, and is bound on both sides', async (t) => {
  const { harness, directories } = await started(t);
  const { metadata } = await claim(harness, { storageClassName: 'standard' });
  const name = `pvc-${metadata.uid}`;
  assert.ok(directories.present.has(name));
  const volume = harness.client.find(persistentVolumes, { name });
  assert.equal(volume?.spec?.hostPath?.path, `/volumes/${name}`);
  assert.equal(volume.spec.claimRef?.uid, metadata.uid);
  assert.equal(volume.status?.phase, 'Bound');
  const bound = found(harness);
  assert.equal(bound?.spec?.volumeName, name);
  assert.deepEqual(bound.status, {
    phase: 'Bound',
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
  });
  assert.deepEqual(bound.metadata.finalizers, ['kubernetes.io/pvc-protection']);
});

test('a claim that names no class gets the default one', async (t) => {
  const { harness } = await started(t);
  await claim(harness);
  assert.equal(found(harness)?.status?.phase, 'Bound');
});

test('started anew between any two writes, one claim gets one volume', async (t) => {
  for (let writes = 0; writes <= 5; writes++) {
    const { harness, create } = await started(t);
    harness.killAfter(writes);
    await claim(harness);
    await harness.start(create);
    assert.equal(found(harness)?.status?.phase, 'Bound', `killed after ${writes} writes`);
    assert.equal(harness.client.all(persistentVolumes).length, 1);
    assert.equal(harness.client.all(persistentVolumes)[0]?.status?.phase, 'Bound');
  }
});

test('the volume and its directory go with the claim', async (t) => {
  const { harness, directories } = await started(t);
  await claim(harness);
  await harness.client.delete(persistentVolumeClaims, key);
  await settle();
  assert.equal(found(harness), undefined);
  assert.equal(harness.client.all(persistentVolumes).length, 0);
  assert.equal(directories.present.size, 0);
});

test('a claim in use stays until its last pod has ended', async (t) => {
  const { harness, directories } = await started(t);
  await claim(harness);
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'user' },
    spec: { containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
  });
  await harness.client.delete(persistentVolumeClaims, key);
  await settle();
  assert.ok(found(harness)?.metadata.deletionTimestamp);
  assert.equal(directories.present.size, 1);
  await harness.setStatus(pods, 'user', { phase: 'Succeeded' });
  assert.equal(found(harness), undefined);
  assert.equal(directories.present.size, 0);
});

test('a class that nobody provisions here leaves the claim pending, with an event', async (t) => {
  const { harness, directories } = await started(t);
  await claim(harness, { storageClassName: 'fast' });
  assert.equal(found(harness)?.status?.phase, 'Pending');
  assert.deepEqual(harness.reasons, ['FailedBinding']);
  assert.equal(directories.present.size, 0);
});

test('a block device can not be made from a directory', async (t) => {
  const { harness } = await started(t);
  await claim(harness, { volumeMode: 'Block' });
  assert.equal(found(harness)?.status?.phase, 'Pending');
  assert.ok(harness.reasons.includes('ProvisioningFailed'));
});

test('a full disk is told, and tried again', async (t) => {
  const { harness, directories } = await started(t);
  directories.full = true;
  await claim(harness);
  assert.match(harness.events[0]?.message ?? '', /no space left/);
  directories.full = false;
  await harness.clock.advance(10_000);
  assert.equal(found(harness)?.status?.phase, 'Bound');
});

test('a volume that an administrator made is used if it fits, and kept afterwards', async (t) => {
  const { harness } = await started(t);
  for (const [name, storage] of [
    ['small', '1Mi'],
    ['large', '5Gi'],
    ['fitting', '2Gi'],
  ] as const)
    await harness.client.create(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage },
        hostPath: { path: `/mnt/${name}` },
        persistentVolumeReclaimPolicy: 'Retain',
      },
    });
  await settle();
  const phase = (): string | undefined =>
    harness.client.find(persistentVolumes, { name: 'fitting' })?.status?.phase;
  assert.equal(phase(), 'Available');
  await claim(harness, { storageClassName: '' });
  assert.equal(found(harness)?.spec?.volumeName, 'fitting');
  assert.equal(phase(), 'Bound');
  await harness.client.delete(persistentVolumeClaims, key);
  await settle();
  assert.equal(phase(), 'Released');
});

test('a claim whose volume is taken away is lost, and says so', async (t) => {
  const { harness } = await started(t);
  await claim(harness);
  harness.client.remove(persistentVolumes, { name: found(harness)?.spec?.volumeName ?? '' });
  await settle();
  assert.equal(found(harness)?.status?.phase, 'Lost');
  assert.ok(harness.reasons.includes('ClaimLost'));
});

test('directories: made and removed under their root only', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'volumes-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const directories = createLocalDirectories(root);
  const volume = 'pvc-00000000-0000-0000-0000-000000000000';
  await directories.create(volume);
  await directories.create(volume);
  await writeFile(join(directories.pathOf(volume), 'disk.img'), 'x');
  await directories.remove(volume);
  await directories.remove(volume);
  assert.deepEqual(await readdir(root), []);
  assert.throws(() => directories.pathOf('../etc'), /not the name of a provisioned volume/);
  assert.throws(() => createLocalDirectories('relative'), /must be absolute/);
});
