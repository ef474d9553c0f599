/** What users do with the real kubectl. */
import assert from 'node:assert/strict';
import { describe, test, before } from 'node:test';
import type { VirtualMachine } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesCluster } from '../cluster.js';
import { halted } from '../manifests.js';

const namespace = 'users';
const inNamespace = ['-n', namespace];

export function kubectlSuite(cluster: () => KubernetesCluster): void {
  describe('kubectl', () => {
    before(() => cluster().createNamespace(namespace));

    test('creates, shows as a table, patches, edits labels, deletes', async () => {
      assert.equal(
        await cluster().get(['create', ...inNamespace, '-f', '-'], halted('made')),
        'virtualmachine.kubevirt.io/made created\n',
      );
      assert.match(
        await cluster().get(['get', 'vm', ...inNamespace]),
        /^NAME +AGE +STATUS +READY\nmade +\S+ +\S* *\S*\n$/,
      );
      await cluster().get([
        'patch',
        'vm/made',
        ...inNamespace,
        '--type',
        'merge',
        '-p',
        '{"spec":{"runStrategy":"Manual"}}',
      ]);
      await cluster().get(['label', 'vm/made', ...inNamespace, 'app=web']);
      const machine = await cluster().json<VirtualMachine>(['get', 'vm/made', ...inNamespace]);
      assert.equal(machine.spec.runStrategy, 'Manual');
      assert.equal(machine.metadata.labels?.['app'], 'web');
      assert.equal(
        await cluster().get(['get', 'vm', ...inNamespace, '-l', 'app=web', '-o', 'name']),
        'virtualmachine.kubevirt.io/made\n',
      );
      await cluster().get(['delete', 'vm/made', ...inNamespace, '--wait=false']);
    });

    test('applies, again, and with a change', async () => {
      const apply = (machine: object): Promise<string> =>
        cluster().get(['apply', ...inNamespace, '-f', '-'], machine);
      assert.match(await apply(halted('applied')), / created\n$/);
      assert.match(await apply(halted('applied')), / unchanged\n$/);
      assert.match(await apply(halted('applied', { runStrategy: 'Manual' })), / configured\n$/);
    });

    test('server-side apply keeps owners of fields and tells of conflicts', async () => {
      const apply = (manager: string, machine: object): ReturnType<KubernetesCluster['kubectl']> =>
        cluster().kubectl(
          ['apply', '--server-side', '--field-manager', manager, ...inNamespace, '-f', '-'],
          machine,
        );
      const first = await apply('one', halted('owned'));
      assert.equal(first.code, 0, first.stderr);
      const second = await apply('two', halted('owned', { runStrategy: 'Manual' }));
      assert.equal(second.code, 1);
      assert.match(second.stderr, /conflict with "one": \.spec\.runStrategy/);
      const { metadata } = await cluster().json<VirtualMachine>([
        'get',
        'vm/owned',
        ...inNamespace,
        '--show-managed-fields',
      ]);
      assert.deepEqual(
        metadata.managedFields?.map(({ manager, operation }) => [manager, operation]),
        [['one', 'Apply']],
      );
    });

    test('an unknown field is refused by name', async () => {
      const { code, stderr } = await cluster().kubectl(
        ['create', ...inNamespace, '-f', '-'],
        halted('strict', { runstrategy: 'Halted' }),
      );
      assert.equal(code, 1);
      assert.match(stderr, /strict decoding error: unknown field "spec\.runstrategy"/);
    });

    test('a dry run stores nothing; diff shows what would change', async () => {
      await cluster().get(['create', ...inNamespace, '--dry-run=server', '-f', '-'], halted('dry'));
      assert.equal((await cluster().kubectl(['get', 'vm/dry', ...inNamespace])).code, 1);
      await cluster().get(['apply', ...inNamespace, '-f', '-'], halted('differs'));
      const { code, stdout } = await cluster().kubectl(
        ['diff', ...inNamespace, '-f', '-'],
        halted('differs', { runStrategy: 'Manual' }),
      );
      assert.equal(code, 1);
      assert.match(stdout, /^-\s+runStrategy: Halted\n^\+\s+runStrategy: Manual$/m);
    });

    test('a wait sees the change that comes', async () => {
      await cluster().get(['create', ...inNamespace, '-f', '-'], halted('awaited'));
      const waiting = cluster().get([
        'wait',
        'vm/awaited',
        ...inNamespace,
        '--for=jsonpath={.spec.runStrategy}=Manual',
        '--timeout=60s',
      ]);
      await cluster().get([
        'patch',
        'vm/awaited',
        ...inNamespace,
        '--type=json',
        '-p',
        '[{"op":"replace","path":"/spec/runStrategy","value":"Manual"}]',
      ]);
      assert.match(await waiting, /condition met/);
    });

    test('scales what can be scaled', async () => {
      const template = { metadata: { labels: { app: 'set' } }, spec: { domain: { devices: {} } } };
      await cluster().get(['create', ...inNamespace, '-f', '-'], {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstanceReplicaSet',
        metadata: { name: 'set' },
        spec: { replicas: 0, selector: { matchLabels: { app: 'set' } }, template },
      });
      await cluster().get(['scale', 'vmirs/set', ...inNamespace, '--replicas=2', '--current-replicas=0']);
      assert.equal(
        await cluster().get(['get', 'vmirs/set', ...inNamespace, '-o', 'jsonpath={.spec.replicas}']),
        '2',
      );
    });

    test('deletes a whole collection', async () => {
      await cluster().get(['delete', 'vm', '--all', ...inNamespace, '--wait=false']);
    });
  });
}
