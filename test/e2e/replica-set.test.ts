/** Replica sets and pools as users have them: created, scaled, changed and deleted with kubectl. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { ObjectList } from '../../openapi/meta.js';
import { Cluster, eventually } from './harness.js';
import { virtualMachine, type Manifest } from './manifests.js';

const labels = { app: 'web' };
const small = { name: 'web', graceSeconds: 0, memory: '16Mi', cpuRequest: '5m' };

/** The template of a small VM, labelled. */
function instanceTemplate(memory = small.memory): object {
  const { template } = virtualMachine({ ...small, memory }).spec as { template: object };
  return { ...template, metadata: { labels } };
}

function replicaSet(): Manifest {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 3, selector: { matchLabels: labels }, template: instanceTemplate() },
  };
}

function pool(memory?: string): Manifest {
  return {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 3,
      maxUnavailable: 1,
      selector: { matchLabels: labels },
      virtualMachineTemplate: {
        metadata: { labels },
        spec: { runStrategy: 'Always', template: instanceTemplate(memory) },
      },
    },
  };
}

const instances = async (cluster: Cluster): Promise<VirtualMachineInstance[]> =>
  (await cluster.json<ObjectList<VirtualMachineInstance>>(['get', 'vmi'])).items;

const readyReplicas = async (cluster: Cluster, object: string): Promise<string> =>
  cluster.get(['get', object, '-o', 'jsonpath={.status.replicas} {.status.readyReplicas}']);

async function allReady(cluster: Cluster, object: string, count: number): Promise<void> {
  const wanted = `${count} ${count}`;
  await eventually(
    `${object} has ${wanted}`,
    async () => (await readyReplicas(cluster, object)) === wanted,
    180,
  );
}

async function allGone(cluster: Cluster): Promise<void> {
  await eventually(
    'everything is gone',
    async () => (await cluster.get(['get', 'vm,vmi,pod', '-o', 'name'])) === '',
    120,
  );
}

test('a replica set keeps its number, whatever is scaled or deleted', async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  await cluster.create(replicaSet());
  await allReady(cluster, 'vmirs/web', 3);

  await cluster.get(['scale', 'vmirs/web', '--replicas=5']);
  await allReady(cluster, 'vmirs/web', 5);
  const scale = await cluster.get([
    'get',
    '--raw',
    '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancereplicasets/web/scale',
  ]);
  assert.deepEqual((JSON.parse(scale) as { status: object }).status, { replicas: 5, selector: 'app=web' });

  const [victim] = await instances(cluster);
  assert.ok(victim);
  await cluster.get(['delete', 'vmi', victim.metadata.name]);
  await allReady(cluster, 'vmirs/web', 5);
  const uids = (await instances(cluster)).map(({ metadata }) => metadata.uid);
  assert.ok(!uids.includes(victim.metadata.uid));
  assert.equal(uids.length, 5);

  await cluster.get(['scale', 'vmirs/web', '--replicas=1']);
  await allReady(cluster, 'vmirs/web', 1);
  await eventually('one is left', async () => (await instances(cluster)).length === 1, 60);

  await cluster.get(['delete', 'vmirs', 'web']);
  await allGone(cluster);
});

test('a pool brings its VMs to a new template one after the other, and keeps their numbers', async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  await cluster.create(pool());
  await allReady(cluster, 'vmpool/web', 3);
  const before = await instances(cluster);
  assert.deepEqual(before.map(({ metadata }) => metadata.name).sort(), ['web-0', 'web-1', 'web-2']);

  await cluster.get(['replace', '-f', '-'], JSON.stringify(pool('24Mi')));
  let fewestReady = 3;
  await eventually(
    'every instance has the new memory',
    async () => {
      const now = await instances(cluster);
      const ready = now.filter(({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
      );
      fewestReady = Math.min(fewestReady, ready.length);
      return ready.filter(({ spec }) => spec.domain.memory?.guest === '24Mi').length === 3;
    },
    240,
  );
  assert.ok(fewestReady >= 2, `only ${fewestReady} were ready at a time`);
  const old = new Set(before.map(({ metadata }) => metadata.uid));
  assert.ok((await instances(cluster)).every(({ metadata }) => !old.has(metadata.uid)));
  await eventually(
    'only the revisions in use are left: of the pool, and of what each VM was started from',
    async () => {
      const names = (await cluster.get(['get', 'controllerrevisions', '-o', 'name'])).trim().split('\n');
      return names.length === 4 && names.filter((name) => name.includes('revision-start-vm-')).length === 3;
    },
    60,
  );

  await cluster.get(['scale', 'vmpool/web', '--replicas=1']);
  await allReady(cluster, 'vmpool/web', 1);
  await cluster.get(['delete', 'vmpool', 'web']);
  await allGone(cluster);
});
