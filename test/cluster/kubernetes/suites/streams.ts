/** Upgraded connections and watches, through the aggregator. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import type { VirtualMachine } from '../../../../openapi/generated/types/kubevirt_v1.js';
import { createHttpClient } from '../../../../controllers/runtime/http-client.js';
import { virtualMachines } from '../../../../controllers/runtime/kinds.js';
import type { WatchEvent } from '../../../../controllers/runtime/client.js';
import { json } from '../../../apiserver/test-server.js';
import type { KubernetesCluster } from '../cluster.js';
import { halted } from '../manifests.js';

const namespace = 'streams';
const machines = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;

/** The answer to an upgrade that is refused. */
async function refusal(cluster: KubernetesCluster, path: string, token: string): Promise<number> {
  const socket = new WebSocket(`wss://127.0.0.1:${cluster.port}${path}`, ['plain.kubevirt.io'], {
    ca: cluster.ca,
    headers: { authorization: `Bearer ${token}` },
  });
  // `ws` gives the request and the response.
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
  return response.statusCode;
}

export function streamsSuite(cluster: () => KubernetesCluster): void {
  describe('streams', () => {
    before(() => cluster().createNamespace(namespace));

    test('an upgrade is answered by our server, for who is allowed', async () => {
      for (const group of ['kubevirt.io', 'subresources.kubevirt.io'])
        for (const stream of ['console', 'vnc', 'portforward/22/tcp']) {
          const path = `/apis/${group}/v1/namespaces/${namespace}/virtualmachineinstances/none/${stream}`;
          assert.equal(await refusal(cluster(), path, 'admin'), 404, path);
          assert.equal(await refusal(cluster(), path, 'eve'), 403, path);
        }
    });

    test('a watch resumes where the last one ended', async () => {
      const client = createHttpClient({
        server: `https://127.0.0.1:${cluster().port}`,
        credentials: () => Promise.resolve({ ca: cluster().ca, authorization: 'Bearer admin' }),
        userAgent: 'test',
        fieldManager: 'test',
      });
      const watch = async (resourceVersion: string, count: number): Promise<WatchEvent<VirtualMachine>[]> => {
        const events: WatchEvent<VirtualMachine>[] = [];
        for await (const event of client.watch(virtualMachines, {
          namespace,
          resourceVersion,
          timeoutSeconds: 60,
        })) {
          if (event.type === 'BOOKMARK') continue;
          events.push(event);
          if (events.length === count) break;
        }
        return events;
      };
      try {
        const { metadata } = await client.list(virtualMachines, { namespace });
        const names = ['a', 'b', 'c', 'd'];
        for (const name of names) await cluster().must('POST', machines, halted(name));
        const first = await watch(metadata.resourceVersion ?? '', 2);
        const last = first.at(-1);
        assert.ok(last !== undefined && last.type !== 'BOOKMARK');
        const second = await watch(last.object.metadata.resourceVersion, 2);
        assert.deepEqual(
          [...first, ...second].map((event) => event.type !== 'BOOKMARK' && event.object.metadata.name),
          names,
        );
      } finally {
        client.close();
      }
    });

    test('a watch sees a write at once', async () => {
      const { metadata } = json<{
        readonly metadata: { readonly resourceVersion: string };
      }>(await cluster().must('GET', machines));
      const watching = cluster().get([
        'get',
        'vm',
        '-n',
        namespace,
        '--watch-only',
        '-o',
        'name',
        '--request-timeout=5s',
      ]);
      assert.notEqual(metadata.resourceVersion, '');
      await cluster().must('DELETE', `${machines}/a`);
      await watching;
    });
  });
}
