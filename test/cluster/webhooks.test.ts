/** Webhooks that somebody has set up in the cluster, for writes that come through the front proxy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scale } from '../../openapi/generated/types/autoscaling_v1.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import { json, requestOf, type Answer } from '../apiserver/test-server.js';
import { eventually } from '../e2e/harness.js';
import { startCluster, type TestCluster } from './cluster.js';
import { startWebhookServer, type WebhookServer } from './webhook-server.js';

const admin = { name: 'admin', groups: ['system:masters'], extra: {} };
const machines = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';

let cluster: TestCluster;
let webhooks: WebhookServer;

before(async () => {
  cluster = await startCluster();
  webhooks = await startWebhookServer(cluster.core.authority);
});

after(async () => {
  await cluster.close();
  await webhooks.close();
});

function send(method: string, path: string, body?: object): Promise<Answer> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return requestOf(cluster)(method, path, {
    token: 'admin',
    headers: { 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Each test's webhooks see only what bears its name. */
function machine(name: string, of: string): object {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, labels: { test: of } },
    spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
  };
}

/** Sets up a webhook of the test's name, and waits until it is asked about `probe`. */
async function configure(
  type: 'Mutating' | 'Validating',
  name: string,
  spec: object = {},
  probe = () => send('POST', `${machines}?dryRun=All`, machine('probe', name)),
): Promise<void> {
  const kind = `${type}WebhookConfiguration`;
  const configuration: New<KubernetesObject> & { readonly webhooks: readonly object[] } = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: webhooks.client(name),
        rules: [
          {
            apiGroups: ['kubevirt.io'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
            resources: ['virtualmachines'],
          },
        ],
        objectSelector: { matchLabels: { test: name } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...spec,
      },
    ],
  };
  const target = { group: 'admissionregistration.k8s.io', resource: `${kind.toLowerCase()}s` };
  await cluster.core.registry.create(target, configuration, { user: admin });
  await eventually(`${name} is asked`, async () => {
    await probe();
    return webhooks.asked(name).length > 0 ? true : undefined;
  });
}

const patch = (...operations: readonly object[]): object => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

test('a mutating webhook changes what is stored, and our own defaults and rules still hold', async () => {
  webhooks.answer('mutating', () => ({
    ...patch(
      { op: 'add', path: '/metadata/labels/patched', value: 'yes' },
      { op: 'add', path: '/spec/template/spec/domain/memory', value: { guest: '64Mi' } },
      { op: 'add', path: '/spec/unheardOf', value: 1 },
    ),
    warnings: ['the webhook was here'],
  }));
  await configure('Mutating', 'mutating');
  const created = await send('POST', machines, machine('mutated', 'mutating'));
  assert.equal(created.status, 201, created.text);
  assert.match(created.headers['warning'] ?? '', /the webhook was here/);
  const stored = json<VirtualMachine>(await send('GET', `${machines}/mutated`));
  assert.deepEqual(stored.metadata.labels, { test: 'mutating', patched: 'yes' });
  assert.deepEqual(stored.spec.template.spec?.domain.memory, { guest: '64Mi' });
  assert.equal('unheardOf' in stored.spec, false);
  const review = webhooks.asked('mutating').at(-1);
  assert.equal(review?.userInfo.username, 'admin');
  assert.ok(
    (review.object as VirtualMachine).spec.template.spec?.domain.firmware?.uuid,
    'our defaults come first',
  );
  webhooks.answer('mutating', () => patch({ op: 'replace', path: '/spec/runStrategy', value: 'Sometimes' }));
  const refused = await send('POST', machines, machine('broken', 'mutating'));
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.json().message ?? '', /runStrategy/);
});

test('a validating webhook sees what will be stored, and may refuse each kind of write', async () => {
  webhooks.answer('validating', ({ operation, object, oldObject }) => {
    const { annotations } = (object ?? oldObject)?.metadata ?? {};
    return annotations?.['refuse'] === operation
      ? { allowed: false, status: { code: 403, reason: 'Forbidden', message: `not ${operation}` } }
      : { allowed: true };
  });
  await configure('Validating', 'validating');
  const refuse = async (operation: string): Promise<Answer> =>
    send('PATCH', `${machines}/validated`, { metadata: { annotations: { refuse: operation } } });
  const message = (operation: string): string =>
    `admission webhook "validating.example.com" denied the request: not ${operation}`;
  assert.equal((await send('POST', machines, machine('validated', 'validating'))).status, 201);
  const update = await refuse('UPDATE');
  assert.deepEqual(
    [update.status, update.json().reason, update.json().message],
    [403, 'Forbidden', message('UPDATE')],
  );
  assert.equal((await refuse('DELETE')).status, 200);
  const deleted = await send('DELETE', `${machines}/validated`);
  assert.deepEqual([deleted.status, deleted.json().message], [403, message('DELETE')]);
  assert.equal((await refuse('CREATE')).status, 200);
  assert.equal((await send('DELETE', `${machines}/validated`)).status, 200);
});

test('a webhook of the scale sees the scale', async () => {
  webhooks.answer('scale', ({ object }) => {
    const { kind, spec } = object as Scale;
    return { allowed: kind === 'Scale' && (spec?.replicas ?? 0) <= 3 };
  });
  const rules = {
    apiGroups: ['kubevirt.io'],
    apiVersions: ['v1'],
    operations: ['UPDATE'],
    resources: ['virtualmachineinstancereplicasets/scale'],
  };
  const sets = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancereplicasets';
  const labels = { test: 'scale' };
  const created = await send('POST', sets, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    metadata: { name: 'set', labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { domain: { devices: {} } } },
    },
  });
  assert.equal(created.status, 201, created.text);
  const scaleTo = (replicas: number): Promise<Answer> =>
    send('PATCH', `${sets}/set/scale`, { spec: { replicas } });
  await configure('Validating', 'scale', { rules: [rules] }, () => scaleTo(2));
  assert.equal(
    (await scaleTo(4)).json().message,
    'admission webhook "scale.example.com" denied the request without explanation',
  );
  assert.equal((await scaleTo(3)).status, 200);
});

test('a webhook that fails holds up writes only if it says so', async () => {
  await configure('Validating', 'failing');
  const refused = await send('POST', machines, machine('failing', 'failing'));
  assert.equal(refused.status, 500);
  assert.match(
    refused.json().message ?? '',
    /^Internal error occurred: failed calling webhook "failing.example.com": failed to call webhook: Post "https:\/\/127.0.0.1:\d+\/failing\?timeout=10s": the webhook answered 500: out of order$/,
  );
  await configure('Validating', 'ignored', { failurePolicy: 'Ignore' });
  assert.equal((await send('POST', machines, machine('ignored', 'ignored'))).status, 201);
});

test('webhooks choose namespaces by their labels, which may change', async () => {
  webhooks.answer('chosen', () => ({ allowed: false }));
  const target = { group: '', resource: 'namespaces', name: 'default' };
  const label = (labels: Record<string, string>): Promise<unknown> =>
    cluster.core.registry.guaranteedUpdate(
      target,
      (namespace) => ({ ...namespace, metadata: { ...namespace.metadata, labels } }),
      { user: admin },
    );
  await label({ policies: 'yes' });
  await configure('Validating', 'chosen', { namespaceSelector: { matchLabels: { policies: 'yes' } } });
  assert.equal((await send('POST', machines, machine('chosen', 'chosen'))).status, 400);
  await label({});
  await eventually('the namespace is not chosen any more', async () =>
    (await send('POST', machines, machine('chosen', 'chosen'))).status === 201 ? true : undefined,
  );
});

test('a webhook that is removed is not asked any more', async () => {
  webhooks.answer('removed', () => ({ allowed: false }));
  await configure('Validating', 'removed');
  const group = 'admissionregistration.k8s.io';
  await cluster.core.registry.delete(
    { group, resource: 'validatingwebhookconfigurations', name: 'removed' },
    {},
    { user: admin },
  );
  await eventually('the write is let in', async () =>
    (await send('POST', machines, machine('removed', 'removed'))).status === 201 ? true : undefined,
  );
});
