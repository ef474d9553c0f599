/** Admission policies of the cluster hold for what is written through the front proxy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BindingSpec, PolicySpec } from '../../apiserver/policy/types.js';
import type { ConfigMap, Namespace } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import { requestOf, type Answer } from '../apiserver/test-server.js';
import { eventually } from '../e2e/harness.js';
import { startCluster, type TestCluster } from './cluster.js';

const admin = { name: 'admin', groups: ['system:masters'], extra: {} };
const group = 'admissionregistration.k8s.io';
const machines = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';

let cluster: TestCluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.close());

function send(method: string, path: string, body?: object): Promise<Answer> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return requestOf(cluster)(method, path, {
    token: 'admin',
    ...(body === undefined ? {} : { headers: { 'content-type': type }, body: JSON.stringify(body) }),
  });
}

/** A machine that only the policy of that name is about. */
const machine = (name: string, policy: string, annotations: Record<string, string> = {}): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name, labels: { policy }, annotations },
  spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
});

const dryRun = (policy: string): Promise<Answer> =>
  send('POST', `${machines}?dryRun=All`, machine('probe', policy));

const refusal = (policy: string, message: string, name = 'probe'): string =>
  `virtualmachines.kubevirt.io "${name}" is forbidden: ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${message}`;

async function create<T extends KubernetesObject>(
  resource: string,
  object: New<T>,
  into = group,
): Promise<void> {
  const { namespace } = object.metadata;
  const target = { group: into, resource, ...(namespace === undefined ? {} : { namespace }) };
  await cluster.core.registry.create(target, object, { user: admin });
}

/** A policy for machines with its name as their label, and its binding. */
async function enforce(name: string, spec: PolicySpec, binding: BindingSpec = {}): Promise<void> {
  const rule = {
    apiGroups: ['kubevirt.io'],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE', 'DELETE'] as const,
    resources: ['virtualmachines'],
  };
  const matchConstraints = { resourceRules: [rule], objectSelector: { matchLabels: { policy: name } } };
  await create('validatingadmissionpolicies', {
    apiVersion: `${group}/v1`,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { ...spec, matchConstraints: { ...matchConstraints, ...spec.matchConstraints } },
  } as New<KubernetesObject>);
  await create('validatingadmissionpolicybindings', {
    apiVersion: `${group}/v1`,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], ...binding },
  } as New<KubernetesObject>);
}

async function untilRefused(policy: string): Promise<Answer> {
  return eventually(`${policy} counts`, async () => {
    const answer = await dryRun(policy);
    return answer.status === 201 ? undefined : answer;
  });
}

test('a policy refuses in its words, with the code of its reason', async () => {
  await enforce('worded', { validations: [{ expression: 'false', message: 'never' }] });
  const worded = await untilRefused('worded');
  const message = refusal('worded', 'never');
  assert.deepEqual([worded.status, worded.json().reason, worded.json().message], [422, 'Invalid', message]);
  assert.deepEqual(worded.json()['details'], {
    name: 'probe',
    group: 'kubevirt.io',
    kind: 'virtualmachines',
    causes: [{ message: message.replace(/^.* is forbidden: /, '') }],
  });
  await enforce('reasoned', { validations: [{ expression: 'false', reason: 'Forbidden' }] });
  const reasoned = await untilRefused('reasoned');
  assert.deepEqual(
    [reasoned.status, reasoned.json().reason, reasoned.json().message],
    [403, 'Forbidden', refusal('reasoned', 'failed expression: false')],
  );
});

test('updates and deletes are seen with what was there before', async () => {
  const expression = `request.operation == "CREATE" ? oldObject == null
    : request.operation == "DELETE" ? object == null && !has(oldObject.metadata.annotations)
    : object.metadata.name == oldObject.metadata.name`;
  const blocked = 'has(object.metadata.annotations) && "blocked" in object.metadata.annotations';
  await enforce('before', {
    validations: [{ expression }, { expression: `request.operation == "DELETE" || !(${blocked})` }],
  });
  await eventually('the policy counts', async () =>
    (await send('POST', `${machines}?dryRun=All`, machine('probe', 'before', { blocked: '' }))).status === 422
      ? true
      : undefined,
  );
  assert.equal((await send('POST', machines, machine('changing', 'before'))).status, 201);
  const annotate = (annotations: object | null): Promise<Answer> =>
    send('PATCH', `${machines}/changing`, { metadata: { annotations } });
  assert.equal((await annotate({ blocked: '' })).status, 422);
  assert.equal((await annotate({ fine: '' })).status, 200);
  assert.equal((await send('DELETE', `${machines}/changing`)).status, 422);
  assert.equal((await annotate(null)).status, 200);
  assert.equal((await send('DELETE', `${machines}/changing`)).status, 200);
});

test('params are read where the binding says, and their absence counts as it says', async () => {
  await create<ConfigMap>(
    'configmaps',
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'limits', namespace: 'default' },
      data: { prefix: 'web-' },
    },
    '',
  );
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const validations = [
    {
      expression: 'object.metadata.name.startsWith(params.data.prefix)',
      messageExpression: '"begin with " + params.data.prefix',
    },
  ];
  await enforce('params', { paramKind, validations }, { paramRef: { name: 'limits' } });
  assert.equal((await untilRefused('params')).json().message, refusal('params', 'begin with web-'));
  assert.equal((await send('POST', machines, machine('web-1', 'params'))).status, 201);
  await enforce(
    'missing',
    { paramKind, validations },
    { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } },
  );
  assert.match(
    (await untilRefused('missing')).json().message ?? '',
    /failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
  );
  await enforce(
    'unknown',
    { paramKind: { apiVersion: 'v1', kind: 'Unheard' }, validations },
    { paramRef: { name: 'none' } },
  );
  assert.match((await untilRefused('unknown')).json().message ?? '', /Unheard of v1 is not served/);
});

test('warnings come with the answer, and nothing is refused', async () => {
  await enforce(
    'warning',
    { validations: [{ expression: 'false', message: 'think again' }] },
    { validationActions: ['Warn', 'Audit'] },
  );
  const warning = await eventually(
    'the policy warns',
    async () => (await dryRun('warning')).headers['warning'],
  );
  assert.match(
    warning,
    /Validation failed for ValidatingAdmissionPolicy 'warning' with binding 'warning': think again/,
  );
});

test('what runs away is ended, and the server goes on meanwhile', async () => {
  const list = `[${Array.from({ length: 300 }, (_, index) => `"${index}"`).join()}]`;
  const slow = `${list}.all(a, ${list}.all(b, ${list}.all(c, a != "x" && b != "x" && c != "x")))`;
  await enforce('runaway', { validations: [{ expression: slow }] });
  await enforce('ignored', { validations: [{ expression: slow }], failurePolicy: 'Ignore' });
  assert.match(
    (await untilRefused('runaway')).json().message ?? '',
    /takes more than \d+ steps$|did not finish within \d+ ms$/,
  );
  assert.equal((await dryRun('ignored')).status, 201);
});

test('namespaces are seen, and chosen by binding and policy', async () => {
  const target = { group: '', resource: 'namespaces', name: 'default' };
  const label = (labels: Record<string, string>): Promise<Namespace> =>
    cluster.core.registry.guaranteedUpdate<Namespace>(
      target,
      (namespace) => ({ ...namespace, metadata: { ...namespace.metadata, labels } }),
      { user: admin },
    );
  await label({ strict: 'yes' });
  await enforce(
    'namespaced',
    {
      validations: [
        {
          expression: 'false',
          messageExpression: '"in " + namespaceObject.metadata.name + namespaceObject.metadata.labels.strict',
        },
      ],
    },
    { matchResources: { namespaceSelector: { matchLabels: { strict: 'yes' } } } },
  );
  assert.equal((await untilRefused('namespaced')).json().message, refusal('namespaced', 'in defaultyes'));
  await label({});
  await eventually('the namespace is not chosen any more', async () =>
    (await dryRun('namespaced')).status === 201 ? true : undefined,
  );
});

test('a policy that is gone is not asked any more', async () => {
  await enforce('removed', { validations: [{ expression: 'false' }] });
  await untilRefused('removed');
  await cluster.core.registry.delete(
    { group, resource: 'validatingadmissionpolicies', name: 'removed' },
    {},
    { user: admin },
  );
  await eventually('the write is let in', async () =>
    (await dryRun('removed')).status === 201 ? true : undefined,
  );
});
