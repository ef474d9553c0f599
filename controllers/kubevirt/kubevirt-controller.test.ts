import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubeVirt } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Kind } from '../runtime/client.js';
import { kubeVirts } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness } from '../testing/harness.js';
import { createKubeVirtController } from './kubevirt-controller.js';
import { daemonSets, deployments, type Workload } from './workloads.js';

const namespace = 'kubevirt';
const key = { namespace, name: 'kubevirt' };
const installation = {
  namespace,
  version: '1.2.3',
  configuration: { developerConfiguration: { useEmulation: true } },
};
const metadata = (name: string) => ({ namespace, name, labels: { 'app.kubernetes.io/name': 'nativirt' } });
const ready = { observedGeneration: 1, updatedReplicas: 2, readyReplicas: 2 };

async function start(): Promise<Harness> {
  const harness = new Harness();
  await harness.start((deps) => createKubeVirtController(deps, installation));
  return harness;
}

function kubeVirt(harness: Harness): KubeVirt {
  const object = harness.client.find(kubeVirts, key);
  assert.ok(object);
  return object;
}

const conditions = (harness: Harness): Record<string, string> =>
  Object.fromEntries((kubeVirt(harness).status?.conditions ?? []).map(({ type, status }) => [type, status]));

/** Creates the workload if need be, and reports its status. */
async function report(harness: Harness, kind: Kind<Workload>, name: string, status: object): Promise<void> {
  const existing = harness.client.find(kind, metadata(name));
  const object =
    existing ??
    (await harness.client.create(kind, {
      apiVersion: 'apps/v1',
      kind: kind.kind,
      metadata: metadata(name),
      spec: { replicas: 2 },
    }));
  await harness.client.update(kind, { ...object, status }, 'status');
  await settle();
}

test('an installation gets its KubeVirt object once, with the configuration that it was installed with', async () => {
  const harness = await start();
  assert.deepEqual(kubeVirt(harness).spec, { configuration: installation.configuration });
  await harness.stop();
  await harness.start((deps) => createKubeVirtController(deps, { ...installation, configuration: {} }));
  assert.deepEqual(kubeVirt(harness).spec, { configuration: installation.configuration });
  assert.equal(harness.client.all(kubeVirts).length, 1);
  await harness.stop();
});

test('an object that somebody has made already is the installation’s, whatever it is called', async () => {
  const harness = new Harness();
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace, name: 'mine' },
    spec: {},
  });
  await harness.start((deps) => createKubeVirtController(deps, installation));
  assert.equal(harness.client.all(kubeVirts).length, 1);
  assert.equal(harness.client.find(kubeVirts, { namespace, name: 'mine' })?.status?.operatorVersion, '1.2.3');
  await harness.stop();
});

test('it is available when all parts are ready, and deployed when they are up to date', async () => {
  const harness = await start();
  assert.equal(kubeVirt(harness).status?.phase, 'Deploying');
  assert.equal(conditions(harness).Available, 'False');
  await report(harness, deployments, 'apiserver', { ...ready, readyReplicas: 1 });
  assert.equal(conditions(harness).Available, 'False');
  await report(harness, deployments, 'apiserver', ready);
  assert.deepEqual(conditions(harness), {
    Created: 'True',
    Available: 'True',
    Progressing: 'False',
    Degraded: 'False',
  });
  const { phase, observedKubeVirtVersion } = kubeVirt(harness).status ?? {};
  assert.deepEqual([phase, observedKubeVirtVersion], ['Deployed', '1.2.3']);
  await harness.stop();
});

test('a part that fails later is told, and that something was deployed stays true', async () => {
  const harness = await start();
  await report(harness, deployments, 'apiserver', ready);
  await report(harness, daemonSets, 'node-agent', {
    observedGeneration: 1,
    desiredNumberScheduled: 3,
    updatedNumberScheduled: 3,
    numberReady: 2,
  });
  const { status } = kubeVirt(harness);
  assert.equal(status?.phase, 'Deployed');
  const available = status.conditions?.find(({ type }) => type === 'Available');
  assert.deepEqual([available?.status, available?.message], ['False', 'not ready: node-agent']);
  await harness.stop();
});

test('nothing is written while nothing changes', async () => {
  const harness = await start();
  await report(harness, deployments, 'apiserver', ready);
  const before = harness.writesOf(kubeVirts).length;
  await report(harness, deployments, 'apiserver', { ...ready, conditions: [] });
  assert.equal(harness.writesOf(kubeVirts).length, before);
  await harness.stop();
});
