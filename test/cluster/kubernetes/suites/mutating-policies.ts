/** Mutating policies of the cluster: what kube-apiserver makes of a custom resource, we make of our kinds. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { MutatingPolicySpec, Mutation } from '../../../../apiserver/policy/types.js';
import type { ObjectMeta, Status } from '../../../../openapi/meta.js';
import { json, type Answer } from '../../../apiserver/test-server.js';
import { eventually } from '../../../e2e/harness.js';
import type { KubernetesCluster } from '../cluster.js';
import { halted, type Manifest } from '../manifests.js';

const namespace = 'mutated';
const registration = '/apis/admissionregistration.k8s.io/v1';
const machines = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;
const mirrors = `/apis/mirror.example/v1/namespaces/${namespace}/machines`;

/** A custom resource with the fields that the mutations below know. */
const object = (properties: object): object => ({ type: 'object', properties });
const mirror = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'machines.mirror.example' },
  spec: {
    group: 'mirror.example',
    scope: 'Namespaced',
    names: { plural: 'machines', singular: 'machine', kind: 'Machine', listKind: 'MachineList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: object({
            spec: object({
              runStrategy: { type: 'string' },
              template: object({
                metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                spec: object({
                  hostname: { type: 'string' },
                  nodeSelector: { type: 'object', additionalProperties: { type: 'string' } },
                  terminationGracePeriodSeconds: { type: 'integer' },
                  networks: { type: 'array', items: object({ name: { type: 'string' } }) },
                  domain: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                }),
              }),
            }),
          }),
        },
      },
    ],
  },
};

const apply = (expression: string): Mutation => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const patch = (expression: string): Mutation => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const spec = (fields: string): string =>
  `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{${fields}}}}}`;

/** Each is met by objects whose label has its place. */
const mutations: readonly Mutation[] = [
  apply('Object{metadata: Object.metadata{labels: {"by": variables.name}}}'),
  apply(spec('hostname: "from-" + object.metadata.name, terminationGracePeriodSeconds: 5')),
  apply(spec('nodeSelector: {"zone": namespaceObject.metadata.name}')),
  apply(spec('?hostname: object.spec.?template.spec.hostname, ?nodeSelector: optional.none()')),
  apply(
    'Object{metadata: Object.metadata{annotations: {"was": object.spec.runStrategy}}, spec: Object.spec{runStrategy: "Manual"}}',
  ),
  apply('Object{metadata: Object.metadata{finalizers: ["a.example/b"]}}'),
  apply('Object{spec: Object.spec{nowhere: 1}}'),
  apply(spec('networks: [Object.spec.template.spec.networks{name: "x"}]')),
  apply('Object{spec: Object.wrong{runStrategy: "x"}}'),
  apply('Object{spec: Object.spec{runStrategy: object.metadata.nowhere}}'),
  apply('Object{metadata: Object.metadata{namespace: object.metadata.namespace}}'),
  patch('[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a.example/b"), value: "c"}]'),
  patch(
    '[JSONPatch{op: "test", path: "/spec/runStrategy", value: "No"}, JSONPatch{op: "add", path: "/metadata/labels/a", value: "b"}]',
  ),
  patch(
    '[JSONPatch{op: "copy", from: "/metadata/name", path: "/metadata/labels/copy"}, JSONPatch{op: "move", from: "/metadata/annotations/owner", path: "/metadata/annotations/moved"}]',
  ),
  patch(
    '[JSONPatch{op: "replace", path: "/spec/runStrategy", value: "Manual"}, JSONPatch{op: "add", path: "/spec/template/spec/terminationGracePeriodSeconds", value: 3u}]',
  ),
  patch('[JSONPatch{op: "add", path: "/spec/template/spec/nodeSelector", value: {"a": "b"}}]'),
  patch(
    '[JSONPatch{op: "add", path: "/spec/template", value: Object.spec.template{spec: Object.spec.template{hostname: "h"}}}]',
  ),
  patch('[JSONPatch{op: "add", path: "/spec/unheard", value: {"a": 1}}]'),
  patch('[JSONPatch{op: "replace", path: "/spec/none/deep", value: "v"}]'),
  patch('[JSONPatch{op: "remove", path: "/spec/none"}]'),
  patch('[JSONPatch{op: "jump", path: "/spec/none"}]'),
  patch(
    '[JSONPatch{op: "add", path: "/metadata/annotations/time", value: duration("90m")}, JSONPatch{op: "add", path: "/metadata/annotations/bytes", value: b"\\xff"}]',
  ),
  patch(
    'object.metadata.annotations.filter(key, key == "owner").map(key, JSONPatch{op: "remove", path: "/metadata/annotations/" + key})',
  ),
];

/** What a mutation may have changed, without what our own defaults add. */
function outcome(answer: Answer): object {
  if (answer.status > 299) {
    const { status, code, reason, message, details } = json<Status>(answer);
    return { status, code, reason, message, causes: details?.causes };
  }
  const { metadata, spec } = json<Mutated>(answer);
  const { labels, annotations, finalizers = [] } = metadata;
  const { hostname, nodeSelector, terminationGracePeriodSeconds, networks } = spec.template?.spec ?? {};
  return {
    labels,
    annotations,
    finalizers: finalizers.filter((name) => !name.startsWith('kubevirt.io/')),
    runStrategy: spec.runStrategy,
    template: { hostname, nodeSelector, terminationGracePeriodSeconds, networks },
  };
}

interface Mutated {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly runStrategy?: string;
    readonly template?: { readonly spec?: Readonly<Record<string, unknown>> };
  };
}

export function mutatingPoliciesSuite(cluster: () => KubernetesCluster): void {
  const policy = async (name: string, policySpec: MutatingPolicySpec): Promise<void> => {
    const rule = {
      apiGroups: ['mirror.example', 'kubevirt.io'],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['machines', 'virtualmachines'],
    };
    await cluster().must('POST', `${registration}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [rule],
          objectSelector: { matchLabels: { policy: name.replace(/[a-z]$/, '') } },
        },
        variables: [{ name: 'name', expression: 'object.metadata.name' }],
        reinvocationPolicy: 'Never',
        ...policySpec,
      },
    });
    await cluster().must('POST', `${registration}/mutatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name },
    });
  };
  const bodyOf = (name: string): Manifest =>
    halted('same', {}, { labels: { policy: name }, annotations: { owner: 'jane' } });
  const machine = (name: string): Promise<Answer> =>
    cluster().request('POST', `${machines}?dryRun=All`, bodyOf(name));
  const mirrored = (name: string): Promise<Answer> =>
    cluster().request('POST', `${mirrors}?dryRun=All`, {
      ...bodyOf(name),
      apiVersion: 'mirror.example/v1',
      kind: 'Machine',
    });
  // kube-apiserver knows a new kind's schema only after a while.
  const mutates = (answer: Answer): boolean =>
    answer.status !== 503 && (answer.status !== 201 || answer.text.includes('"seen"'));
  const counts = (name: string): Promise<true> =>
    eventually(
      `${name} counts on both sides`,
      async () => mutates(await machine(name)) && mutates(await mirrored(name)),
      60,
    );
  /** Whoever is concerned by the policy bears it. */
  const seen = patch('[JSONPatch{op: "add", path: "/metadata/annotations/seen", value: "yes"}]');

  describe('mutating policies', () => {
    before(async () => {
      await cluster().createNamespace(namespace);
      await cluster().must('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', mirror);
      for (const [index, mutation] of mutations.entries())
        await policy(`change-${index}`, { mutations: [seen, mutation] });
      await Promise.all(mutations.map((_, index) => counts(`change-${index}`)));
    });

    for (const [index, mutation] of mutations.entries()) {
      const { expression } =
        mutation.patchType === 'JSONPatch' ? mutation.jsonPatch : mutation.applyConfiguration;
      test(`changed as a custom resource: ${expression}`, async () => {
        const name = `change-${index}`;
        assert.deepEqual(outcome(await machine(name)), outcome(await mirrored(name)));
      });
    }

    test('conditions, failures that are ignored, and policies that run again', async () => {
      const count = patch(
        '[JSONPatch{op: "add", path: "/metadata/annotations/count", value: object.metadata.annotations[?"count"].orValue("") + "x"}]',
      );
      await policy('round-1a', { mutations: [count], reinvocationPolicy: 'IfNeeded' });
      await policy('round-1b', {
        mutations: [patch('[JSONPatch{op: "remove", path: "/nowhere"}]'), count],
        failurePolicy: 'Ignore',
      });
      await policy('round-1c', {
        mutations: [count],
        matchConditions: [{ name: 'never', expression: 'object.metadata.name == "another"' }],
      });
      await policy('round-1d', { mutations: [seen] });
      await eventually(
        'all of them count',
        async () =>
          (await mirrored('round-1')).text.includes('"seen"') &&
          (await machine('round-1')).text.includes('"seen"'),
        60,
      );
      assert.deepEqual(outcome(await machine('round-1')), outcome(await mirrored('round-1')));
    });
  });
}
