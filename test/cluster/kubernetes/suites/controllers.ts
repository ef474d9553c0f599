/** What the cluster's controller manager does with our objects. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ResourceQuota } from '../../../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../../../openapi/meta.js';
import { json } from '../../../apiserver/test-server.js';
import { eventually } from '../../../e2e/harness.js';
import type { KubernetesCluster } from '../cluster.js';
import { halted, preference, preferencesIn } from '../manifests.js';

const machinesIn = (namespace: string): string =>
  `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;
/** The controller manager looks for new kinds every 30 s. Seconds. */
const patience = 90;

export function controllersSuite(cluster: () => KubernetesCluster, hasControllers: boolean): void {
  const options = hasControllers ? {} : { skip: 'KUBEBUILDER_ASSETS has no kube-controller-manager' };
  const isGone = (path: string): Promise<true> =>
    eventually(
      `${path} is gone`,
      async () => (await cluster().request('GET', path)).status === 404,
      patience,
    );
  const created = async (path: string, object: object): Promise<KubernetesObject> =>
    json<KubernetesObject>(await cluster().must('POST', path, object));
  const ownedBy = ({ apiVersion, kind, metadata }: KubernetesObject, more: object = {}): object => ({
    ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more }],
  });

  describe('controller manager', () => {
    test('a namespace is emptied and goes; meanwhile nothing comes in', options, async () => {
      const namespace = 'doomed';
      await cluster().createNamespace(namespace);
      await cluster().must('POST', machinesIn(namespace), halted('held'));
      await cluster().must('POST', preferencesIn(namespace), preference('free'));
      await cluster().get(['delete', 'namespace', namespace, '--wait=false']);
      await eventually('new objects are refused', async () => {
        const answer = await cluster().request('POST', machinesIn(namespace), halted('late'));
        if (answer.status !== 403) return false;
        assert.match(
          answer.json().message ?? '',
          /unable to create new content in namespace doomed because it is being terminated/,
        );
        return true;
      });
      await isGone(`${preferencesIn(namespace)}/free`);
      // Our own controllers let go of it, and none runs here.
      await eventually('the VM is marked', async () => {
        const held = await cluster().json<KubernetesObject>(['get', 'vm/held', '-n', namespace]);
        return held.metadata.deletionTimestamp !== undefined;
      });
      const letGo = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
      await cluster().get(['patch', 'vm/held', '-n', namespace, ...letGo]);
      await isGone(`/api/v1/namespaces/${namespace}`);
    });

    test('what belongs to a deleted object is collected, on either side', options, async () => {
      const namespace = 'owners';
      await cluster().createNamespace(namespace);
      const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
      const ours = await created(preferencesIn(namespace), preference('owner'));
      const theirs = await created(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'owner' },
      });
      await cluster().must('POST', configMaps, { metadata: { ...ownedBy(ours), name: 'theirs-of-ours' } });
      await cluster().must('POST', preferencesIn(namespace), preference('ours-of-ours', ownedBy(ours)));
      await cluster().must('POST', preferencesIn(namespace), preference('ours-of-theirs', ownedBy(theirs)));
      await cluster().must('DELETE', `${preferencesIn(namespace)}/owner`);
      await cluster().must('DELETE', `${configMaps}/owner`);
      await isGone(`${configMaps}/theirs-of-ours`);
      await isGone(`${preferencesIn(namespace)}/ours-of-ours`);
      await isGone(`${preferencesIn(namespace)}/ours-of-theirs`);
    });

    test('deletion in the foreground waits for dependents; orphans stay', options, async () => {
      const namespace = 'cascades';
      const at = (name: string): string => `${preferencesIn(namespace)}/${name}`;
      await cluster().createNamespace(namespace);
      const orphaning = await created(preferencesIn(namespace), preference('orphaning'));
      const waiting = await created(preferencesIn(namespace), preference('waiting'));
      await cluster().must('POST', preferencesIn(namespace), preference('kept', ownedBy(orphaning)));
      const blocking = ownedBy(waiting, { blockOwnerDeletion: true });
      await cluster().must('POST', preferencesIn(namespace), preference('first', blocking));
      const cascade = (name: string, how: string): Promise<string> =>
        cluster().get(['delete', `vmpref/${name}`, '-n', namespace, `--cascade=${how}`, '--wait=false']);
      await cascade('orphaning', 'orphan');
      await isGone(at('orphaning'));
      const kept = json<KubernetesObject>(await cluster().must('GET', at('kept')));
      assert.equal(kept.metadata.ownerReferences, undefined);
      await cascade('waiting', 'foreground');
      await isGone(at('waiting'));
      assert.equal((await cluster().request('GET', at('first'))).status, 404);
    });

    test('quotas of the cluster count and limit our objects', options, async () => {
      const namespace = 'limited';
      const count = 'count/virtualmachinepreferences.instancetype.kubevirt.io';
      const create = (name: string): ReturnType<KubernetesCluster['request']> =>
        cluster().request('POST', preferencesIn(namespace), preference(name));
      await cluster().createNamespace(namespace);
      assert.equal((await create('before')).status, 201);
      await cluster().must('POST', `/api/v1/namespaces/${namespace}/resourcequotas`, {
        metadata: { name: 'preferences' },
        spec: { hard: { [count]: '2' } },
      });
      await eventually(
        'what was there is counted',
        async () => {
          const quota = await cluster().must(
            'GET',
            `/api/v1/namespaces/${namespace}/resourcequotas/preferences`,
          );
          return json<ResourceQuota>(quota).status?.used?.[count] === '1';
        },
        patience,
      );
      assert.equal((await create('second')).status, 201);
      const refused = await create('third');
      assert.equal(refused.status, 403, refused.text);
      assert.match(
        refused.json().message ?? '',
        /exceeded quota: preferences, requested: count\/virtualmachinepreferences\S+=1, used: \S+=2, limited: \S+=2/,
      );
      await cluster().must('DELETE', `${preferencesIn(namespace)}/second`);
      await eventually(
        'room that was made is used',
        async () => (await create('third')).status === 201,
        patience,
      );
    });

    test('an autoscaler scales through the scale subresource', options, async () => {
      const namespace = 'scaled';
      const kind = 'VirtualMachineInstanceReplicaSet';
      const sets = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstancereplicasets`;
      await cluster().createNamespace(namespace);
      const labels = { app: 'set' };
      await cluster().must('POST', sets, {
        apiVersion: 'kubevirt.io/v1',
        kind,
        metadata: { name: 'set' },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { domain: { devices: {} } } },
        },
      });
      const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
      await cluster().must('POST', `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, {
        metadata: { name: 'set' },
        spec: {
          scaleTargetRef: { apiVersion: 'kubevirt.io/v1', kind, name: 'set' },
          minReplicas: 3,
          maxReplicas: 5,
          metrics: [{ type: 'Resource', resource: cpu }],
        },
      });
      const path = ['get', 'vmirs/set', '-n', namespace, '-o', 'jsonpath={.spec.replicas}'];
      await eventually(
        'there are as many as the autoscaler wants',
        async () => (await cluster().get(path)) === '3',
        patience,
      );
    });
  });
}
