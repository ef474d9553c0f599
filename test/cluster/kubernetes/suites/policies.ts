/** Admission policies of the cluster: what kube-apiserver says of its own kinds, we say of ours. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import type { Answer } from '../../../apiserver/test-server.js';
import { eventually } from '../../../e2e/harness.js';
import { apiserverAccount, type KubernetesCluster } from '../cluster.js';
import { halted } from '../manifests.js';

const namespace = 'governed';
const registration = '/apis/admissionregistration.k8s.io/v1';
const machines = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;
const services = `/api/v1/namespaces/${namespace}/services`;

/** What is refused, by which validation; each is met by objects whose label has its place. */
const validations: readonly { readonly [member: string]: string }[] = [
  { expression: 'false', message: 'said plainly' },
  { expression: 'false' },
  {
    expression: 'object.metadata.annotations.owner == params.data.owner',
    messageExpression:
      '"%s is not %s in %s".format([variables.owner, params.data.owner, namespaceObject.metadata.name])',
    reason: 'Forbidden',
  },
  { expression: 'object.metadata.nowhere == "x"', message: 'never said' },
  { expression: 'object.metadata.name.matches("^[0-9]+$")', reason: 'Invalid' },
  { expression: 'quantity("1Gi").isLessThan(quantity("1M"))', reason: 'RequestEntityTooLarge' },
  { expression: 'object.metadata.annotations["size"] > 3' },
  { expression: '[1, 2][5] == 1' },
  { expression: 'int(object.metadata.annotations.owner) > 1' },
  { expression: '1 / (size(object.metadata.name) - size(object.metadata.name)) == 1' },
  { expression: 'cidr("10.0.0.0/8").containsIP(ip(object.metadata.annotations.owner))' },
  {
    expression: 'has(object.metadata.?annotations.other) || url("https://a.example:80/x").getPort() != "80"',
  },
  { expression: 'sets.contains(["a"], [object.metadata.annotations.owner]) || [3, 1].isSorted()' },
  { expression: 'object.metadata.annotations.all(k, v, v.size() > 100)' },
  { expression: 'duration("1h") > timestamp("2026-01-02T00:00:00Z") - timestamp("2026-01-01T00:00:00Z")' },
  { expression: 'format.dns1123Label().validate("A_b") == optional.none()' },
  { expression: 'authorizer.group("").resource("secrets").namespace("x").check("get").allowed() == false' },
];

const labelled = (index: number): object => ({
  labels: { policy: `rule-${index}` },
  annotations: { owner: 'bob', size: '4' },
});

export function policiesSuite(cluster: () => KubernetesCluster): void {
  const policy = async (index: number, validation: object, spec: object = {}): Promise<void> => {
    const name = `rule-${index}`;
    const operations = ['CREATE'];
    await cluster().must('POST', `${registration}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['', 'kubevirt.io'],
              apiVersions: ['v1'],
              operations,
              resources: ['services', 'virtualmachines'],
            },
          ],
          objectSelector: { matchLabels: { policy: name } },
        },
        variables: [
          { name: 'owner', expression: 'object.metadata.?annotations[?"owner"].orValue("nobody")' },
        ],
        validations: [validation],
        ...spec,
      },
    });
    await cluster().must('POST', `${registration}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        paramRef: { name: 'rules', parameterNotFoundAction: 'Deny' },
      },
    });
  };
  const service = (index: number): Promise<Answer> =>
    cluster().request('POST', `${services}?dryRun=All`, {
      metadata: { ...labelled(index), name: 'same' },
      spec: { ports: [{ port: 80 }] },
    });
  const machine = (index: number): Promise<Answer> =>
    cluster().request('POST', `${machines}?dryRun=All`, halted('same', {}, labelled(index)));
  /** Everything but what names the kind. */
  const refusal = (answer: Answer): object => {
    const { status, code, reason, message = '', details } = answer.json();
    const { causes } = (details ?? {}) as { readonly causes?: unknown };
    return { status, code, reason, message: message.replace(/^\S+ /, ''), causes };
  };

  describe('policies', () => {
    before(async () => {
      await cluster().createNamespace(namespace);
      await cluster().must('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
        metadata: { name: 'rules' },
        data: { owner: 'jane' },
      });
      // Who sets up a policy with params lets our server read them.
      await cluster().get([
        'create',
        'clusterrole',
        'policy-params',
        '--resource=configmaps',
        '--verb=get,list,watch',
      ]);
      await cluster().get([
        'create',
        'clusterrolebinding',
        'policy-params',
        '--clusterrole=policy-params',
        '--user',
        apiserverAccount,
      ]);
      for (const [index, validation] of validations.entries()) await policy(index, validation);
      await Promise.all(
        validations.map((_, index) =>
          eventually(
            `rule ${index} counts on both sides`,
            async () => (await service(index)).status > 299 && (await machine(index)).status > 299,
            60,
          ),
        ),
      );
    });

    for (const [index, { expression = '' }] of validations.entries())
      test(`refused in the same words: ${expression}`, async () => {
        assert.deepEqual(refusal(await machine(index)), refusal(await service(index)));
      });

    test('audit annotations are in the audit log', async () => {
      const auditAnnotations = [{ key: 'owner', valueExpression: 'variables.owner' }];
      await policy(100, { expression: 'true' }, { auditAnnotations });
      await eventually(
        'the annotation is there',
        async () => {
          await machine(100);
          return (await readFile(cluster().auditLog, 'utf8')).includes('"rule-100/owner":"bob"');
        },
        60,
      );
    });
  });
}
