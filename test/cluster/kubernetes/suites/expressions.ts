/** CEL: what each expression of a table is to kube-apiserver, it is to our evaluator. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { CompiledPolicy } from '../../../../apiserver/policy/evaluation.js';
import type { PolicySpec, Validation } from '../../../../apiserver/policy/types.js';
import { eventually } from '../../../e2e/harness.js';
import type { KubernetesCluster } from '../cluster.js';

const namespace = 'expressions';
const registration = '/apis/admissionregistration.k8s.io/v1';
/** A policy tells by warnings, which are cut off when they get too long together. */
const perPolicy = 12;

/** Never holds, so that its message says what the expression is, or why it is nothing. */
function telling(expression: string, index: number): Validation {
  return {
    expression: `dyn([${expression}]) == dyn(["never"])`,
    message: `#${index}`,
    // Messages have no authorizer.
    ...(expression.startsWith('authorizer')
      ? {}
      : { messageExpression: `"#${index} is %s".format([[${expression}]])` }),
  };
}

function tables(): readonly { readonly name: string; readonly validations: readonly Validation[] }[] {
  const text = readFileSync(path.join(import.meta.dirname, '../expressions.txt'), 'utf8');
  const all = text.split('\n').filter((line) => line !== '');
  return Array.from({ length: Math.ceil(all.length / perPolicy) }, (_, index) => ({
    name: `table-${index}`,
    validations: all.slice(index * perPolicy, (index + 1) * perPolicy).map(telling),
  }));
}

const service = (name: string): object => ({
  metadata: { name: 'same', namespace, labels: { expr: name } },
  spec: { ports: [{ port: 80 }] },
});

function ours(name: string, spec: PolicySpec): readonly string[] {
  const request = { operation: 'CREATE', userInfo: { username: 'admin' }, namespace, name: 'same' };
  const namespaceObject = { metadata: { name: namespace } };
  const inputs = { object: service(name), oldObject: null, request, params: null, namespaceObject };
  const { denials } = new CompiledPolicy(spec).evaluate(inputs, () => ({ allowed: true, reason: '' }));
  return denials.map(({ message }) => message);
}

export function expressionsSuite(cluster: () => KubernetesCluster): void {
  const theirs = async (name: string): Promise<readonly string[]> => {
    const answer = await cluster().must(
      'POST',
      `/api/v1/namespaces/${namespace}/services?dryRun=All`,
      service(name),
    );
    // Node takes headers for Latin-1.
    const text = Buffer.from(answer.headers.warning ?? '', 'latin1').toString();
    return Array.from(text.matchAll(/299 - "((?:\\.|[^"\\])*)"/g), ([, warning = '']) =>
      warning.replace(/\\(.)/g, '$1').replace(/^.*? with binding '[^']*': /, ''),
    );
  };

  describe('expressions', () => {
    before(async () => {
      await cluster().createNamespace(namespace);
      for (const { name, validations } of tables()) {
        const rule = {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['services'],
        };
        await cluster().must('POST', `${registration}/validatingadmissionpolicies`, {
          metadata: { name },
          spec: {
            matchConstraints: { resourceRules: [rule], objectSelector: { matchLabels: { expr: name } } },
            validations,
          },
        });
        await cluster().must('POST', `${registration}/validatingadmissionpolicybindings`, {
          metadata: { name },
          spec: { policyName: name, validationActions: ['Warn'] },
        });
      }
    });

    for (const { name, validations } of tables())
      test(name, async () => {
        const said = await eventually(
          `${name} counts`,
          async () => {
            const warnings = await theirs(name);
            return warnings.length > 0 && warnings;
          },
          60,
        );
        // The same warning is given once.
        assert.deepEqual(said, [...new Set(ours(name, { validations }))]);
      });
  });
}
