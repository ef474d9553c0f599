/** What kube-apiserver makes of our discovery and documents. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { json } from '../../../apiserver/test-server.js';
import { eventually } from '../../../e2e/harness.js';
import type { KubernetesCluster } from '../cluster.js';

interface DiscoveredResource {
  readonly resource: string;
  readonly shortNames?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface AggregatedDiscovery {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly versions: readonly {
      readonly version: string;
      readonly freshness?: string;
      readonly resources: readonly DiscoveredResource[];
    }[];
  }[];
}

type DiscoveredVersion = AggregatedDiscovery['items'][number]['versions'][number] & {
  readonly group: string;
};

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export function aggregationSuite(cluster: () => KubernetesCluster): void {
  describe('aggregation', () => {
    test('every group and version is available', async () => {
      assert.ok(cluster().apiServices.includes('v1.kubevirt.io'));
      assert.deepEqual(await cluster().unavailable(), []);
    });

    test('discovery has our kinds with their subresources, and they are current', async () => {
      const discovered = async (): Promise<readonly DiscoveredVersion[]> => {
        const answer = await cluster().requestWith('GET', '/apis', {
          token: 'admin',
          headers: { accept: aggregated },
        });
        const { items } = json<AggregatedDiscovery>(answer);
        return items
          .filter(({ metadata }) => metadata.name.endsWith('kubevirt.io'))
          .flatMap(({ metadata, versions }) => versions.map((each) => ({ ...each, group: metadata.name })));
      };
      const { plane, apiServices } = cluster();
      await eventually(
        'discovery has every version',
        async () => (await discovered()).length === apiServices.length,
        60,
      );
      const versions = await discovered();
      assert.deepEqual(
        versions
          .filter(({ freshness }) => freshness !== 'Current')
          .map(({ group, version }) => `${version}.${group}`),
        [],
        plane.words(),
      );
      assert.deepEqual(
        versions.map(({ group, version }) => `${version}.${group}`).sort(),
        [...cluster().apiServices].sort(),
      );
      const instances = versions
        .find(({ group, version }) => group === 'kubevirt.io' && version === 'v1')
        ?.resources.find(({ resource }) => resource === 'virtualmachineinstances');
      assert.deepEqual(instances?.shortNames, ['vmi', 'vmis']);
      const subresources = instances.subresources?.map(({ subresource }) => subresource) ?? [];
      for (const name of ['console', 'vnc', 'vnc/screenshot', 'portforward', 'pause'])
        assert.ok(subresources.includes(name), `${name} of ${subresources.join(' ')}`);
    });

    test('kubectl knows our kinds by all their names', async () => {
      const list = await cluster().get(['api-resources', '--api-group', 'kubevirt.io', '-o', 'wide']);
      assert.match(list, /virtualmachines +vm,vms +kubevirt\.io\/v1 +true +VirtualMachine +create,delete,/);
      const names = await cluster().get(['api-versions']);
      for (const name of [
        'kubevirt.io/v1',
        'instancetype.kubevirt.io/v1beta1',
        'subresources.kubevirt.io/v1',
      ])
        assert.ok(names.split('\n').includes(name), `${name} of ${names}`);
    });

    test('explain tells what a field means', async () => {
      const field = await cluster().get(['explain', 'vm.spec.runStrategy']);
      assert.match(
        field,
        /GROUP: +kubevirt\.io\nKIND: +VirtualMachine\nVERSION: +v1\n\nFIELD: runStrategy <string>/,
      );
      const tree = await cluster().get(['explain', 'vmi.spec.domain.devices', '--recursive']);
      assert.match(tree, /disks\s<\[\]Disk>/);
    });

    test('the merged OpenAPI v2 has our definitions and paths', async () => {
      const answer = await cluster().requestWith('GET', '/openapi/v2', {
        token: 'admin',
        headers: { accept: 'application/json' },
      });
      const document = json<{
        readonly paths: Readonly<Record<string, unknown>>;
        readonly definitions: Readonly<
          Record<
            string,
            { readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[] }
          >
        >;
      }>(answer);
      const path = '/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}';
      assert.ok(
        path in document.paths,
        Object.keys(document.paths)
          .filter((each) => each.includes('kubevirt'))
          .join(),
      );
      assert.ok('/api/v1/namespaces/{namespace}/pods/{name}' in document.paths);
      const kinds = Object.values(document.definitions).flatMap(
        (each) => each['x-kubernetes-group-version-kind']?.map(({ kind }) => kind) ?? [],
      );
      assert.ok(kinds.includes('VirtualMachine') && kinds.includes('Pod'));
    });

    test('OpenAPI v3 of a group is ours, by the hash that kube-apiserver gives', async () => {
      const index = json<{
        readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
      }>(await cluster().must('GET', '/openapi/v3'));
      const place = index.paths['apis/kubevirt.io/v1']?.serverRelativeURL ?? '';
      assert.match(place, /^\/openapi\/v3\/apis\/kubevirt\.io\/v1\?hash=/);
      const answer = await cluster().must('GET', place);
      assert.match(answer.text, /VirtualMachine/);
      assert.match(String(answer.headers['cache-control']), /immutable/);
    });
  });
}
