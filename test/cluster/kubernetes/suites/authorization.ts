/** Users and roles of the cluster. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventually } from '../../../e2e/harness.js';
import type { KubernetesCluster } from '../cluster.js';
import { halted } from '../manifests.js';

const namespace = 'team';
const machines = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;
const subresources = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/x`;

export function authorizationSuite(cluster: () => KubernetesCluster): void {
  const bind = async (role: string, user: string): Promise<void> => {
    await cluster().get([
      'create',
      'rolebinding',
      `${user}-${role.replace(':', '-')}`,
      '-n',
      namespace,
      '--clusterrole',
      role,
      '--user',
      user,
    ]);
  };
  const canI = async (user: string, verb: string, resource: string, ...flags: string[]): Promise<string> =>
    (
      await cluster().kubectl(['auth', 'can-i', verb, resource, '-n', namespace, '--as', user, ...flags])
    ).stdout.trim();

  describe('authorization', () => {
    before(() => cluster().createNamespace(namespace));

    test('a user without rights may nothing, and the answer says who and what', async () => {
      const answer = await cluster().request('GET', machines, undefined, 'eve');
      assert.equal(answer.status, 403);
      assert.equal(
        answer.json().message,
        `virtualmachines.kubevirt.io is forbidden: User "eve" cannot list resource "virtualmachines" in API group "kubevirt.io" in the namespace "${namespace}"`,
      );
      assert.equal(await canI('eve', 'list', 'virtualmachines.kubevirt.io'), 'no');
    });

    test('a role of ours gives what it names, deep subresources too', async () => {
      await bind('kubevirt.io:edit', 'bob');
      await eventually(
        'bob may',
        async () => (await cluster().request('GET', machines, undefined, 'bob')).status === 200,
        60,
      );
      assert.equal(await canI('bob', 'create', 'virtualmachines.kubevirt.io'), 'yes');
      assert.equal(await canI('bob', 'get', 'vmi', '--subresource', 'vnc/screenshot'), 'yes');
      assert.equal((await cluster().request('POST', machines, halted('bobs'), 'bob')).status, 201);
      assert.equal(
        (await cluster().request('GET', `${subresources}/vnc/screenshot`, undefined, 'bob')).status,
        404,
      );
      assert.equal(
        (await cluster().request('GET', `${subresources}/vnc/screenshot`, undefined, 'eve')).status,
        403,
      );
      assert.equal(
        (await cluster().request('GET', '/apis/kubevirt.io/v1/virtualmachines', undefined, 'bob')).status,
        403,
      );
    });

    test('impersonation is done by kube-apiserver', async () => {
      const { stderr } = await cluster().kubectl([
        'get',
        'vm',
        '-n',
        namespace,
        '--as',
        'mallory',
        '--as-group',
        'some',
      ]);
      assert.match(stderr, /User "mallory" cannot list resource "virtualmachines"/);
    });

    test('anonymous users are refused', async () => {
      const answer = await cluster().requestWith('GET', machines, {});
      assert.match(answer.json().message ?? '', /User "system:anonymous" cannot list/);
    });

    test("the cluster's own roles have ours in them", async (t) => {
      if (!cluster().plane.hasControllers) {
        t.skip('no kube-controller-manager aggregates roles');
        return;
      }
      await bind('view', 'viewer');
      await bind('edit', 'editor');
      await bind('admin', 'chief');
      const vm = 'virtualmachines.kubevirt.io';
      await eventually('view has ours', async () => (await canI('viewer', 'list', vm)) === 'yes', 60);
      assert.equal(await canI('viewer', 'create', vm), 'no');
      await eventually('edit has ours', async () => (await canI('editor', 'create', vm)) === 'yes', 60);
      await eventually('admin has ours', async () => (await canI('chief', 'delete', vm)) === 'yes', 60);
    });
  });
}
