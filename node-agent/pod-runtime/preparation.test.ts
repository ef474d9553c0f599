import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Volume } from '../../openapi/generated/types/core_v1.js';
import { pods, secrets, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { FakeClock } from '../../controllers/runtime/testing/fake-clock.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { ImagePuller } from '../images/puller.js';
import { ImageStore } from '../images/store.js';
import { diskImage, writeLayout } from '../images/testing/images.js';
import { PodDirectories } from '../pod-directory.js';
import { FakeRecorder } from '../testing/events.js';
import { namespace, newPod, newVmi } from '../testing/objects.js';
import type { Waiting } from './pod-status.js';
import { Preparation } from './preparation.js';

async function setUp(t: TestContext, { image, volumes = [] }: { image?: string; volumes?: Volume[] }) {
  const root = await mkdtemp(join(tmpdir(), 'nativirt-preparation-'));
  const alive = setInterval(() => undefined, 60_000);
  t.after(async () => {
    clearInterval(alive);
    await rm(root, { recursive: true, force: true });
  });
  const client = new FakeClient();
  const clock = new FakeClock();
  const recorder = new FakeRecorder();
  const vmiVolumes = image === undefined ? [] : [{ name: 'root', containerDisk: { image } }];
  const vmi = await client.create(virtualMachineInstances, newVmi('vm', { volumes: vmiVolumes }));
  const containers = [{ name: 'compute' }, ...(image === undefined ? [] : [{ name: 'volumeroot', image }])];
  const pod = await client.create(pods, newPod(vmi, { containers, volumes }));
  const directory = new PodDirectories(join(root, 'pods')).of(pod.metadata.uid);
  await directory.create();
  const store = await ImageStore.open(join(root, 'images'));
  const reports: ReadonlyMap<string, Waiting>[] = [];
  const listeners = new Set<() => void>();
  const stop = new AbortController();
  const preparation = new Preparation(
    pod,
    directory,
    {
      client,
      clock,
      logger: new SilentLogger(),
      recorder,
      random: () => 0,
      puller: new ImagePuller({ store, layoutDirectories: [root] }),
    },
    (waiting) => {
      reports.push(waiting);
      for (const listener of listeners) listener();
    },
    stop.signal,
  );
  /** Resolves with the container's next state of waiting. */
  const nextReport = (): Promise<ReadonlyMap<string, Waiting>> =>
    new Promise((resolve) => {
      const listener = (): void => {
        listeners.delete(listener);
        resolve(reports.at(-1) ?? new Map());
      };
      listeners.add(listener);
    });
  return { root, client, clock, recorder, directory, preparation, reports, nextReport, stop };
}

test('ErrImagePull, then ImagePullBackOff, then the image is there', async (t) => {
  const image = 'oci:layout:v1';
  const { root, clock, preparation, nextReport, directory, recorder } = await setUp(t, { image });
  assert.equal(await preparation.isImmediate(), false);
  const first = nextReport();
  const run = preparation.run();
  assert.equal((await first).get('volumeroot')?.reason, 'ErrImagePull');
  const second = nextReport();
  await clock.advance(10_000);
  const backOff = (await second).get('volumeroot');
  assert.equal(backOff?.reason, 'ImagePullBackOff');
  assert.match(backOff.message ?? '', /there is no OCI layout/);
  await writeLayout(join(root, 'layout'), { v1: await diskImage('late') });
  const third = nextReport();
  await clock.advance(20_000);
  assert.equal((await third).get('volumeroot'), undefined);
  await run;
  assert.match(preparation.images.get('volumeroot') ?? '', /^sha256:/);
  assert.equal(await readFile(join(directory.volume('root'), 'disk.img'), 'utf8'), 'late');
  assert.deepEqual(
    recorder.reasons().filter((reason) => reason !== 'Pulling'),
    ['Failed', 'Failed', 'Pulled'],
  );
});

test('a secret that comes later ends the waiting', async (t) => {
  const { client, clock, preparation, nextReport, recorder, directory } = await setUp(t, {
    volumes: [{ name: 'v', secret: { secretName: 's' } }],
  });
  const waiting = nextReport();
  const run = preparation.run();
  assert.match((await waiting).get('compute')?.message ?? '', /secret "s" does not exist/);
  await client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 's' },
    data: { key: Buffer.from('value').toString('base64') },
  });
  const done = nextReport();
  await clock.advance(500);
  assert.equal((await done).size, 0);
  await run;
  assert.equal(await readFile(join(directory.volume('v'), 'key'), 'utf8'), 'value');
  assert.deepEqual(recorder.reasons(), ['FailedMount']);
});

test('what cannot be mended ends it, and stops the parts that still wait', async (t) => {
  const { preparation, reports, clock } = await setUp(t, {
    image: 'oci:nowhere',
    volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }],
  });
  await assert.rejects(preparation.run(), /volumes of type nfs are not supported/);
  const count = reports.length;
  await clock.advance(60_000);
  assert.equal(reports.length, count);
});

test('stopping it ends every wait', async (t) => {
  const { preparation, nextReport, stop, clock } = await setUp(t, { image: 'oci:nowhere' });
  const waiting = nextReport();
  const run = preparation.run();
  await waiting;
  stop.abort();
  await assert.rejects(run, { name: 'AbortError' });
  assert.equal(clock.nextTimer, undefined);
});
