import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { configMaps, pods, secrets, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { FakeClock } from '../../controllers/runtime/testing/fake-clock.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { PodDirectory } from '../pod-directory.js';
import { namespace, newPod, newVmi } from '../testing/objects.js';
import { PayloadRefresh } from './payload-refresh.js';
import { prepareVolumes } from './volumes.js';

test('files follow their sources within two minutes, the pod’s own fields at once, and stay when a source goes', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'nativirt-refresh-'));
  t.after(() => rmSync(root, { recursive: true }));
  const client = new FakeClient();
  const clock = new FakeClock();
  const logger = new SilentLogger();
  const base = (text: string): string => Buffer.from(text).toString('base64');
  await client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'keys' },
    data: { key: base('old') },
  });
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: 'settings' },
    data: { a: 'old' },
  });
  const vmi = await client.create(virtualMachineInstances, newVmi('vm'));
  const labels = { fieldRef: { fieldPath: 'metadata.labels' }, path: 'labels' };
  const volumes = [
    { name: 'secret', secret: { secretName: 'keys' } },
    { name: 'all', projected: { sources: [{ configMap: { name: 'settings' } }] } },
    { name: 'own', downwardAPI: { items: [labels] } },
  ];
  const pod = await client.create(pods, newPod(vmi, { volumes }));
  const directory = new PodDirectory(root, pod.metadata.uid);
  await directory.create();
  const stop = new AbortController();
  const { signal } = stop;
  await prepareVolumes({ client, clock, logger, pod, directory, signal, waiting: () => undefined });
  const text = (volume: string, path: string): string =>
    readFileSync(join(directory.volume(volume), path), 'utf8');
  const refresh = new PayloadRefresh(pod, directory, { client, clock, logger, random: Math.random });
  const running = refresh.run(signal);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };

  client.put(secrets, { namespace, name: 'keys' }, (secret) => ({ ...secret, data: { key: base('new') } }));
  client.put(configMaps, { namespace, name: 'settings' }, (map) => ({ ...map, data: { b: 'new' } }));
  assert.equal(text('secret', 'key') + text('all', 'a'), 'oldold');
  await clock.advance(120_000);
  await until(() => text('secret', 'key') === 'new');
  await until(() => directoryHas('b'));
  assert.throws(() => text('all', 'a'), /ENOENT/);

  const { metadata } = pod;
  refresh.update({ ...pod, metadata: { ...metadata, labels: { ...metadata.labels, tier: 'db' } } });
  await until(() => text('own', 'labels').includes('tier="db"'));

  client.remove(secrets, { namespace, name: 'keys' });
  await clock.advance(120_000);
  assert.equal(text('secret', 'key'), 'new');
  stop.abort();
  await running;
  assert.equal(clock.nextTimer, undefined);

  function directoryHas(name: string): boolean {
    try {
      return text('all', name) === 'new';
    } catch {
      return false;
    }
  }
});
