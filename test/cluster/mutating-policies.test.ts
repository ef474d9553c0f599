/** Mutating policies of the cluster change what is written through the front proxy, before its webhooks see it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MutatingPolicySpec, Mutation } from '../../apiserver/policy/types.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import { json, requestOf, type Answer } from '../apiserver/test-server.js';
import { eventually } from '../e2e/harness.js';
import { startCluster, type TestCluster } from './cluster.js';
import { startWebhookServer, type WebhookServer } from './webhook-server.js';

const admin = { name: 'admin', groups: ['system:masters'], extra: {} };
const group = 'admissionregistration.k8s.io';
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
  return requestOf(cluster)(method, path, {
    token: 'admin',
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
}

const machine = (policy: string): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: policy, labels: { policy } },
  spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
});

const rule = {
  apiGroups: ['kubevirt.io'],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['virtualmachines'],
};

async function register(resource: string, kind: string, name: string, content: object): Promise<void> {
  const object: New<KubernetesObject> = { apiVersion: `${group}/v1`, kind, metadata: { name }, ...content };
  await cluster.core.registry.create({ group, resource }, object, { user: admin });
}

async function enforce(name: string, spec: MutatingPolicySpec): Promise<void> {
  const objectSelector = { matchLabels: { policy: name } };
  await register('mutatingadmissionpolicies', 'MutatingAdmissionPolicy', name, {
    spec: { ...spec, matchConstraints: { resourceRules: [rule], objectSelector } },
  });
  await register('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', name, {
    spec: { policyName: name },
  });
}

const apply = (expression: string): Mutation => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const patch = (expression: string): Mutation => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** The answer to the first create that the policy, which counts from some moment on, has changed or refused. */
const first = (policy: string): Promise<Answer> =>
  eventually(`${policy} counts`, async () => {
    const answer = await send('POST', `${machines}?dryRun=All`, machine(policy));
    return (answer.status !== 201 || answer.text.includes('"changed"')) && answer;
  });

test('what policies set is stored, and our own rules still hold', async () => {
  await enforce('stored', {
    variables: [{ name: 'cores', expression: '2 + 2' }],
    mutations: [
      apply(`Object{
        metadata: Object.metadata{labels: {"changed": namespaceObject.metadata.name}},
        spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
          domain: Object.spec.template.spec.domain{cpu: Object.spec.template.spec.domain.cpu{cores: variables.cores}}
        }}}
      }`),
      patch(
        '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"cores": string(object.spec.template.spec.domain.cpu.cores)}}]',
      ),
    ],
  });
  await first('stored');
  assert.equal((await send('POST', machines, machine('stored'))).status, 201);
  const { metadata, spec } = json<VirtualMachine>(await send('GET', `${machines}/stored`));
  assert.deepEqual(metadata.labels, { policy: 'stored', changed: 'default' });
  assert.deepEqual(metadata.annotations, { cores: '4' });
  assert.equal(spec.template.spec?.domain.cpu?.cores, 4);

  await enforce('invalid', {
    mutations: [patch('[JSONPatch{op: "replace", path: "/spec/runStrategy", value: "Sometimes"}]')],
  });
  const refused = await first('invalid');
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.json().message ?? '', /runStrategy/);
});

test('a configuration that does not fit is refused, or passed over', async () => {
  const mutations = [apply('Object{spec: Object.spec{nowhere: 1}}')];
  await enforce('unfit', { mutations });
  const refused = await first('unfit');
  assert.deepEqual([refused.status, refused.json().reason], [403, 'Invalid']);
  assert.equal(
    refused.json().message,
    "policy 'unfit' with binding 'unfit' denied request: error applying patch: failed to convert patch object to typed object: .spec.nowhere: field not declared in schema",
  );
  await enforce('ignored', {
    mutations: [...mutations, apply('Object{metadata: Object.metadata{labels: {"changed": "yes"}}}')],
    failurePolicy: 'Ignore',
  });
  assert.equal((await first('ignored')).status, 201);
});

test('webhooks see what policies made, and policies may run again behind them', async () => {
  webhooks.answer('behind', () => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from('[{"op":"add","path":"/metadata/labels/hooked","value":"yes"}]').toString('base64'),
  }));
  await register('mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', 'behind', {
    webhooks: [
      {
        name: 'behind.example.com',
        clientConfig: webhooks.client('behind'),
        rules: [rule],
        objectSelector: { matchLabels: { policy: 'again' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  await enforce('again', {
    reinvocationPolicy: 'IfNeeded',
    mutations: [
      apply(
        'Object{metadata: Object.metadata{labels: {"changed": object.metadata.labels[?"hooked"].orValue("not-yet")}}}',
      ),
    ],
  });
  const answer = await eventually('both count', async () => {
    const created = await send('POST', `${machines}?dryRun=All`, machine('again'));
    return created.text.includes('"hooked"') && created.text.includes('"changed"') && created;
  });
  const { labels } = json<VirtualMachine>(answer).metadata;
  assert.deepEqual(labels, { policy: 'again', changed: 'yes', hooked: 'yes' });
  assert.equal(webhooks.asked('behind').at(-1)?.object?.metadata.labels?.['changed'], 'not-yet');
});
