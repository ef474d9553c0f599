/** Our certificates and their authority change while requests come through kube-apiserver. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { ensureCa } from '../../../../apiserver/pki/authority.js';
import { eventually } from '../../../e2e/harness.js';
import type { KubernetesCluster } from '../cluster.js';
import { serviceName, serviceNamespace } from '../control-plane.js';

const rotations = 3;
/** kube-apiserver takes a changed APIService at once, but tells nobody when it has. Milliseconds. */
const settling = 1500;

/** Serial number of the certificate that our server shows. */
async function shown({ apiserver }: KubernetesCluster): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: apiserver.port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

async function trust(cluster: KubernetesCluster, bundle: string): Promise<void> {
  const spec = { caBundle: Buffer.from(bundle).toString('base64') };
  for (const name of cluster.apiServices)
    await cluster.patch(`/apis/apiregistration.k8s.io/v1/apiservices/${name}`, { spec });
  await delay(settling);
}

async function show(cluster: KubernetesCluster, pair: { cert: string; key: string }): Promise<void> {
  const before = await shown(cluster);
  const { plane } = cluster;
  for (const [end, text] of [
    ['key', pair.key],
    ['crt', pair.cert],
  ] as const)
    await rename(await plane.file(`serving.${end}.new`, text), path.join(plane.directory, `serving.${end}`));
  await eventually('the server shows the new certificate', async () => (await shown(cluster)) !== before, 60);
}

export function rotationSuite(cluster: () => KubernetesCluster): void {
  describe('rotation', () => {
    test('no request fails while authority and certificate are replaced', async () => {
      const failures: string[] = [];
      let count = 0;
      const stop = new AbortController();
      const load = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const answer = await cluster().request(
            'GET',
            '/apis/kubevirt.io/v1/namespaces/default/virtualmachines',
          );
          count++;
          if (answer.status !== 200) failures.push(`${answer.status} ${answer.text}`);
          await delay(5);
        }
      };
      const loads = [load(), load()];
      try {
        let trusted = cluster().ca;
        for (let round = 0; round < rotations; round++) {
          const next = await ensureCa(cluster().plane.directory, {
            name: `ca-${round}`,
            commonName: `ca-${round}`,
          });
          await trust(cluster(), `${trusted}\n${next.cert}`);
          await show(
            cluster(),
            next.issue({
              commonName: serviceName,
              dnsNames: ['localhost', `${serviceName}.${serviceNamespace}.svc`],
              ips: ['127.0.0.1'],
              usages: ['server'],
              days: 1,
            }),
          );
          trusted = next.cert;
          await trust(cluster(), trusted);
        }
      } finally {
        stop.abort();
        await Promise.all(loads);
      }
      assert.deepEqual(failures, []);
      assert.ok(count > 0);
      await eventually(
        'every APIService is available',
        async () => (await cluster().unavailable()).length === 0,
        60,
      );
    });
  });
}
