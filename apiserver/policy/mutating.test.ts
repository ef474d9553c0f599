import assert from 'node:assert/strict';
import test from 'node:test';
import type { AdmissionRequest } from '../admission/interface.js';
import { ConfigurationError } from '../apply/configuration.js';
import { ApiError } from '../errors/api-error.js';
import { context, fakeDependencies, object, request } from '../webhook-admission/testing/requests.js';
import { bindPolicies } from './bound-policy.js';
import { mutatingPolicies } from './mutating.js';
import { CompiledMutatingPolicy } from './mutation-evaluation.js';
import type { MutatingPolicySpec, Mutation } from './types.js';

const metadata = (
  name: string,
): { name: string; uid: string; resourceVersion: string; creationTimestamp: string } => ({
  name,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '',
});
const apiVersion = 'admissionregistration.k8s.io/v1';
const add = (label: string, value: string): Mutation => ({
  patchType: 'JSONPatch',
  jsonPatch: { expression: `[JSONPatch{op: "add", path: "/metadata/labels/${label}", value: ${value}}]` },
});
const configure = (expression: string): Mutation => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
/** Counts how often policies have run on the object. */
const count = add('count', 'object.metadata.labels[?"count"].orValue("") + "x"');

/** Runs the policies over a write, with `between` behind them as later plugins. */
async function mutate(
  policies: Readonly<Record<string, MutatingPolicySpec>>,
  { asked = request(), between = () => false }: { asked?: AdmissionRequest; between?: () => boolean } = {},
): Promise<Readonly<Record<string, string>> | undefined> {
  const { versionsOf, namespaceLabels, scalePaths, logger } = fakeDependencies({});
  const bound = bindPolicies(
    Object.entries(policies).map(([name, spec]) => ({
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: metadata(name),
      spec,
    })),
    Object.keys(policies).map((policyName) => ({
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: metadata(`bind-${policyName}`),
      spec: { policyName },
    })),
    { versionsOf, namespaceLabels },
  );
  const refuse = (): Promise<never> => Promise.reject(new Error('nobody asks this'));
  const plugin = mutatingPolicies(() => bound, {
    versionsOf,
    namespaceLabels,
    scalePaths,
    logger,
    evaluator: {
      validate: refuse,
      mutate: ({ spec, inputs, mutation }) => {
        const policy = new CompiledMutatingPolicy(spec);
        const ask = (): { allowed: boolean; reason: string } => ({ allowed: true, reason: '' });
        return Promise.resolve(
          mutation === undefined ? policy.match(inputs, ask) : policy.mutate(mutation, inputs, ask),
        );
      },
    },
    params: { find: refuse },
    authorizer: { authorize: refuse },
    namespace: (name) =>
      Promise.resolve({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: metadata(name),
        spec: {},
        status: {},
      }),
    fields: () => ({
      merge(before, configuration) {
        if ('nowhere' in configuration)
          throw new ConfigurationError('.nowhere: field not declared in schema');
        return { ...before, ...configuration, metadata: before.metadata };
      },
    }),
  });
  if (!plugin.handles(asked)) return undefined;
  const late = await plugin.mutateLate?.(asked, context(), (patched) => {
    Object.assign(asked.object ?? {}, patched);
  });
  const changed = between();
  if (late?.changed === true || changed) await late?.again();
  return asked.object?.metadata.labels;
}

const denial = async (
  policies: Readonly<Record<string, MutatingPolicySpec>>,
): Promise<readonly (string | undefined)[]> => {
  try {
    await mutate(policies);
    return [];
  } catch (error) {
    assert.ok(error instanceof ApiError);
    const { code, reason, details } = error.toStatus();
    assert.deepEqual([code, reason], [403, 'Invalid']);
    return details?.causes?.map(({ message }) => message) ?? [];
  }
};

test('policies run by name, each with what those before it made of the object', async () => {
  const seen = add('seen', 'object.metadata.labels[?"count"].orValue("none")');
  assert.deepEqual(await mutate({ b: { mutations: [seen] }, a: { mutations: [count, count] } }), {
    count: 'xx',
    seen: 'xx',
  });
  assert.deepEqual(await mutate({ a: { mutations: [add('op', 'request.operation')] } }), { op: 'CREATE' });
});

test('only policies that want to run again, once a patch came behind them', async () => {
  const again = { mutations: [count], reinvocationPolicy: 'IfNeeded' } as const;
  const once = { mutations: [count], reinvocationPolicy: 'Never' } as const;
  assert.deepEqual(await mutate({ a: once, b: once }), { count: 'xx' });
  assert.deepEqual(await mutate({ a: again, b: once }), { count: 'xxx' });
  assert.deepEqual(await mutate({ a: once, b: again }), { count: 'xx' }, 'nothing came behind it');
  const test: Mutation = {
    patchType: 'JSONPatch',
    jsonPatch: { expression: '[JSONPatch{op: "test", path: "/kind", value: "Pod"}]' },
  };
  assert.deepEqual(
    await mutate({ a: again, b: { mutations: [test] } }),
    { count: 'xx' },
    'even an empty one',
  );
  const asked = request();
  const between = (): boolean => {
    Object.assign(asked.object?.metadata.labels ?? {}, { webhook: 'was here' });
    return true;
  };
  assert.deepEqual(await mutate({ a: again }, { asked, between }), { count: 'xx', webhook: 'was here' });
});

test('conditions decide, and a delete has nothing to change', async () => {
  const when = (expression: string): MutatingPolicySpec => ({
    mutations: [count],
    matchConditions: [{ name: 'condition', expression }],
  });
  assert.deepEqual(await mutate({ a: when('object.metadata.name == "vm"'), b: when('false') }), {
    count: 'x',
  });
  assert.match((await denial({ a: when('object.nowhere') })).join(), /no such key: nowhere/);
  assert.equal(
    await mutate(
      { a: { mutations: [count] } },
      { asked: request({ operation: 'DELETE', object: undefined, oldObject: object() }) },
    ),
    undefined,
  );
});

test('what can not be applied counts by the failure policy, and refuses with all that is wrong', async () => {
  const table: readonly (readonly [Mutation, RegExp])[] = [
    [configure('Object{nowhere: 1}'), /error applying patch: \.nowhere: field not declared/],
    [
      configure('Object{spec: Object.status{}}'),
      /unexpected type name "Object.status", expected "Object.spec"/,
    ],
    [configure('object'), /unsupported return type/],
    [add('a', 'object.nowhere'), /resulted in error: no such key: nowhere/],
    [add('none/deep', '""'), /JSON Patch: add operation does not apply: doc is missing path/],
  ];
  for (const [mutation, message] of table) {
    const [only, ...more] = await denial({ a: { mutations: [mutation] } });
    assert.match(only ?? '', /^policy 'a' with binding 'bind-a' denied request: /);
    assert.match(only ?? '', message);
    assert.deepEqual(more, []);
    assert.deepEqual(
      await mutate({ a: { mutations: [mutation, count], failurePolicy: 'Ignore' } }),
      { count: 'x' },
      'the other mutations are applied',
    );
  }
  const all = table.map(([mutation]) => mutation);
  assert.equal((await denial({ a: { mutations: all } })).length, table.length);
});
