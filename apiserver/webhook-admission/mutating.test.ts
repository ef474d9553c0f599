import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject } from '../../openapi/meta.js';
import { ApiError } from '../errors/api-error.js';
import { mutatingWebhooks } from './mutating.js';
import {
  context,
  fakeDependencies,
  mutate,
  object,
  patchOf,
  request,
  webhooks,
  type Asked,
} from './testing/requests.js';

const url = (host: string): { readonly url: string } => ({ url: `https://${host}` });
const label = (name: string, value: string): object => ({
  allowed: true,
  ...patchOf({ op: 'add', path: `/metadata/labels/${name}`, value }),
});
const allow = (): object => ({ allowed: true });

test('webhooks are asked in turn, each with what those before it made of the object', async () => {
  const asked = request();
  const recorded = context();
  const seen: Asked[] = [];
  const dependencies = fakeDependencies({
    a: () => ({ ...label('a', '1'), warnings: ['careful'], auditAnnotations: { key: 'value' } }),
    b: (review) => {
      seen.push(structuredClone(review));
      return label('b', '2');
    },
  });
  const all = webhooks(
    { name: 'a.test', clientConfig: url('a') },
    { name: 'b.test', clientConfig: url('b') },
  );
  await mutate(
    mutatingWebhooks(() => all, dependencies),
    asked,
    recorded,
  );
  assert.deepEqual(asked.object?.metadata.labels, { a: '1', b: '2' });
  assert.deepEqual(recorded.warnings, ['careful']);
  assert.deepEqual(
    [...recorded.annotations],
    [
      ['a.test/key', 'value'],
      [
        'mutation.webhook.admission.k8s.io/round_0_index_0',
        '{"configuration":"config","webhook":"a.test","mutated":true}',
      ],
      [
        'mutation.webhook.admission.k8s.io/round_0_index_1',
        '{"configuration":"config","webhook":"b.test","mutated":true}',
      ],
    ],
  );
  const { resourceVersion, ...metadata } = object({ a: '1' }).metadata;
  assert.equal(resourceVersion, '');
  assert.deepEqual(seen, [
    {
      uid: 'uid-1',
      kind: { group: 'kubevirt.io', version: 'v1', kind: 'VirtualMachine' },
      resource: { group: 'kubevirt.io', version: 'v1', resource: 'virtualmachines' },
      requestKind: { group: 'kubevirt.io', version: 'v1', kind: 'VirtualMachine' },
      requestResource: { group: 'kubevirt.io', version: 'v1', resource: 'virtualmachines' },
      name: 'vm',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'jane', groups: ['devs'], extra: { scopes: ['all'] } },
      object: { ...object(), metadata },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  ]);
});

test('an object goes out in the version that the webhook names, and comes back in its own', async () => {
  const asked = request({ version: 'v1alpha3', object: { ...object(), apiVersion: 'kubevirt.io/v1alpha3' } });
  const versions: unknown[] = [];
  const dependencies = fakeDependencies({
    a: (review) => {
      versions.push(review.object?.apiVersion, review['resource'], review['requestResource']);
      return label('a', '1');
    },
  });
  const rules = [
    { apiGroups: ['*'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['*'] },
  ] as const;
  const all = webhooks({ name: 'a', clientConfig: url('a'), rules });
  await mutate(
    mutatingWebhooks(() => all, dependencies),
    asked,
    context(),
  );
  const resource = { group: 'kubevirt.io', resource: 'virtualmachines' };
  assert.deepEqual(versions, [
    'kubevirt.io/v1',
    { ...resource, version: 'v1' },
    { ...resource, version: 'v1alpha3' },
  ]);
  assert.equal(asked.object?.apiVersion, 'kubevirt.io/v1alpha3');
  assert.deepEqual(asked.object.metadata.labels, { a: '1' });
});

test('of a scale only that is seen, and its replicas may be changed', async () => {
  const pool = { ...object(), kind: 'VirtualMachinePool', spec: { replicas: 3 } };
  const asked = request({
    operation: 'UPDATE',
    resource: 'virtualmachinepools',
    kind: 'VirtualMachinePool',
    subresource: 'scale',
    object: { ...pool, spec: { replicas: 9, paused: true } } as typeof pool,
    oldObject: pool,
  });
  const seen: unknown[] = [];
  const dependencies = fakeDependencies({
    a: (review) => {
      const { spec } = review.object as KubernetesObject & { readonly spec: unknown };
      seen.push(review['kind'], review.object?.kind, spec, review['subResource']);
      return { allowed: true, ...patchOf({ op: 'replace', path: '/spec/replicas', value: 5 }) };
    },
  });
  const all = webhooks({ name: 'a', clientConfig: url('a') });
  await mutate(
    mutatingWebhooks(() => all, dependencies),
    asked,
    context(),
  );
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  assert.deepEqual(seen, [scale, 'Scale', { replicas: 9 }, 'scale']);
  assert.deepEqual((asked.object as typeof pool).spec, { replicas: 5, paused: true });
});

test('only those are asked again that want it, and only if something came after them', async () => {
  const late = (): object => label('late', 'yes');
  const again = 'IfNeeded';
  const table = [
    { what: 'nothing changed', second: allow, between: undefined, calls: ['a', 'b'] },
    { what: 'a later webhook changed it', second: late, between: undefined, calls: ['a', 'b', 'a'] },
    { what: 'defaults changed it afterwards', second: late, between: 'x', calls: ['a', 'b', 'a', 'b'] },
  ];
  for (const { what, second, between, calls } of table) {
    const asked = request();
    const dependencies = fakeDependencies({ a: allow, b: second, c: allow });
    const all = webhooks(
      { name: 'a', clientConfig: url('a'), reinvocationPolicy: again },
      { name: 'b', clientConfig: url('b'), reinvocationPolicy: again },
    );
    await mutate(
      mutatingWebhooks(() => all, dependencies),
      asked,
      context(),
      () => {
        if (between !== undefined && asked.object !== undefined) asked.object.metadata.labels = { between };
      },
    );
    assert.deepEqual(dependencies.calls, calls, what);
  }
  const dependencies = fakeDependencies({ a: allow, b: late });
  const never = webhooks({ name: 'a', clientConfig: url('a') }, { name: 'b', clientConfig: url('b') });
  await mutate(
    mutatingWebhooks(() => never, dependencies),
    request(),
    context(),
  );
  assert.deepEqual(dependencies.calls, ['a', 'b']);
});

async function refusal(
  answer: object | string,
  change: Parameters<typeof request>[0] = {},
): Promise<ApiError> {
  const all = webhooks({ name: 'a', clientConfig: url('a') });
  const plugin = mutatingWebhooks(() => all, fakeDependencies({ a: () => answer }));
  try {
    await mutate(plugin, request(change), context());
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'the write was let in' });
}

test('a patch that can not be applied is a fault, whatever the failure policy', async () => {
  const broken = await refusal({ allowed: true, ...patchOf({ op: 'remove', path: '/spec/nowhere' }) });
  assert.deepEqual([broken.code, broken.reason], [500, 'InternalError']);
  assert.match(broken.message, /admission webhook "a" gave a patch that can not be applied/);
  const gone = await refusal({ allowed: true, ...patchOf({ op: 'replace', path: '', value: 1 }) });
  assert.match(gone.message, /patched the object away/);
  const deleted = await refusal(label('a', '1'), {
    operation: 'DELETE',
    object: undefined,
    oldObject: object(),
  });
  assert.match(deleted.message, /patches an object that is to be deleted/);
});

test('handles only what a rule names', () => {
  const rules = [{ apiGroups: ['apps'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }] as const;
  const plugin = (all: ReturnType<typeof webhooks>): boolean =>
    mutatingWebhooks(() => all, fakeDependencies({})).handles(request());
  assert.equal(plugin(webhooks()), false);
  assert.equal(plugin(webhooks({ name: 'a', rules })), false);
  assert.equal(plugin(webhooks({ name: 'a' })), true);
});
