import assert from 'node:assert/strict';
import test from 'node:test';
import { SelectorError } from '../../openapi/selectors.js';
import type { AdmissionRequest } from '../admission/interface.js';
import type { Rule } from './configuration.js';
import { matchedVersion, ruleMatches, selectorsMatch } from './matching.js';
import { object, request, webhooks, type WebhookSpec } from './testing/requests.js';

const machines: Rule = {
  apiGroups: ['kubevirt.io'],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['virtualmachines'],
};

test('rules', () => {
  const table: readonly (readonly [string, Partial<Rule>, Partial<AdmissionRequest>, boolean])[] = [
    ['as it is named', {}, {}, true],
    ['another operation', {}, { operation: 'DELETE' }, false],
    ['any operation', { operations: ['*'] }, { operation: 'DELETE' }, true],
    ['no operation', { operations: [] }, {}, false],
    ['another group', { apiGroups: ['apps'] }, {}, false],
    ['any group', { apiGroups: ['*'] }, {}, true],
    ['another version', { apiVersions: ['v1alpha3'] }, {}, false],
    ['any version', { apiVersions: ['*'] }, { version: 'v1alpha3' }, true],
    ['another resource', { resources: ['pods'] }, {}, false],
    ['a resource is not its subresources', {}, { subresource: 'status' }, false],
    ['a subresource', { resources: ['virtualmachines/status'] }, { subresource: 'status' }, true],
    ['a subresource is not its resource', { resources: ['virtualmachines/status'] }, {}, false],
    ['a deep subresource', { resources: ['virtualmachines/a/b'] }, { subresource: 'a/b' }, true],
    ['any resource', { resources: ['*'] }, {}, true],
    ['any resource is no subresource', { resources: ['*'] }, { subresource: 'status' }, false],
    ['any of a resource', { resources: ['virtualmachines/*'] }, { subresource: 'status' }, true],
    ['any of a resource, itself', { resources: ['virtualmachines/*'] }, {}, true],
    ['one subresource of any', { resources: ['*/scale'] }, { subresource: 'scale' }, true],
    ['everything', { resources: ['*/*'] }, { subresource: 'status' }, true],
    ['in namespaces', { scope: 'Namespaced' }, {}, true],
    ['not in namespaces', { scope: 'Cluster' }, {}, false],
    ['of the cluster', { scope: 'Cluster' }, { namespace: undefined }, true],
    ['of anything', { scope: '*' }, { namespace: undefined }, true],
  ];
  for (const [what, rule, change, expected] of table)
    assert.equal(ruleMatches({ ...machines, ...rule }, request(change)), expected, what);
});

function webhook(spec: Partial<WebhookSpec>): ReturnType<typeof webhooks>[number] {
  const [only] = webhooks({ name: 'w', ...spec });
  assert.ok(only !== undefined);
  return only;
}

test('a rule in another version matches what is equivalent', () => {
  const versionsOf = (): readonly string[] => ['v1', 'v1alpha3'];
  const version = (spec: Partial<WebhookSpec>, asked: AdmissionRequest): string | undefined =>
    matchedVersion(webhook({ rules: [machines], ...spec }), asked, versionsOf);
  assert.equal(version({}, request()), 'v1');
  assert.equal(version({}, request({ version: 'v1alpha3' })), 'v1');
  assert.equal(version({ matchPolicy: 'Exact' }, request({ version: 'v1alpha3' })), undefined);
  const either = [machines, { ...machines, apiVersions: ['v1alpha3'] }];
  assert.equal(version({ rules: either }, request({ version: 'v1alpha3' })), 'v1alpha3');
  assert.equal(version({}, request({ resource: 'virtualmachineinstances' })), undefined);
});

test('selectors of namespaces and objects', async () => {
  const labels = (name: string): Promise<Record<string, string>> => Promise.resolve({ name });
  const matches = (spec: Partial<WebhookSpec>, change: Partial<AdmissionRequest> = {}): Promise<boolean> =>
    selectorsMatch(webhook(spec), request(change), labels);
  const namespaceSelector = { matchLabels: { name: 'default' } };
  const objectSelector = { matchLabels: { app: 'a' } };
  const table: readonly (readonly [string, Promise<boolean>, boolean])[] = [
    ['none', matches({}), true],
    ['empty', matches({ namespaceSelector: {}, objectSelector: {} }), true],
    ['this namespace', matches({ namespaceSelector }), true],
    ['another namespace', matches({ namespaceSelector }, { namespace: 'other' }), false],
    ['no namespace', matches({ namespaceSelector }, { namespace: undefined }), true],
    ['this object', matches({ objectSelector }, { object: object({ app: 'a' }) }), true],
    ['another object', matches({ objectSelector }, { object: object({ app: 'b' }) }), false],
    [
      'as it was',
      matches({ objectSelector }, { operation: 'UPDATE', object: object(), oldObject: object({ app: 'a' }) }),
      true,
    ],
    ['deleted', matches({ objectSelector }, { object: undefined, oldObject: object({ app: 'a' }) }), true],
  ];
  for (const [what, found, expected] of table) assert.equal(await found, expected, what);
  const wrong = { matchLabels: { app: 'not a value' } };
  await assert.rejects(matches({ objectSelector: wrong }), SelectorError);
});
