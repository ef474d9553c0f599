/** What a cluster's admin has set up for all writes holds for ours, too. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../../../e2e/harness.js';
import { startWebhookServer, type WebhookServer } from '../../webhook-server.js';
import type { KubernetesCluster } from '../cluster.js';
import { halted } from '../manifests.js';

const namespace = 'admitted';
const machines = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;
const registration = '/apis/admissionregistration.k8s.io/v1';

export function admissionSuite(cluster: () => KubernetesCluster): void {
  describe('admission', () => {
    let webhooks: WebhookServer;
    before(async () => {
      await cluster().createNamespace(namespace);
      webhooks = await startWebhookServer(cluster().plane.authority);
    });
    after(() => webhooks.close());

    async function configure(kind: 'Mutating' | 'Validating', name: string): Promise<void> {
      await cluster().must('POST', `${registration}/${kind.toLowerCase()}webhookconfigurations`, {
        metadata: { name },
        webhooks: [
          {
            name: `${name}.example.com`,
            clientConfig: webhooks.client(name),
            rules: [
              {
                apiGroups: ['kubevirt.io'],
                apiVersions: ['v1'],
                operations: ['CREATE'],
                resources: ['virtualmachines'],
              },
            ],
            objectSelector: { matchLabels: { test: name } },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
      await eventually(`${name} is asked`, async () => {
        const probe = halted('probe', {}, { labels: { test: name } });
        await cluster().request('POST', `${machines}?dryRun=All`, probe);
        return webhooks.asked(name).length > 0;
      });
    }

    test('a mutating webhook changes what is stored', async () => {
      const patch = [{ op: 'add', path: '/metadata/labels/patched', value: 'yes' }];
      webhooks.answer('mutating', () => ({
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      }));
      await configure('Mutating', 'mutating');
      const created = await cluster().must(
        'POST',
        machines,
        halted('patched', {}, { labels: { test: 'mutating' } }),
      );
      assert.match(created.text, /"patched":"yes"/);
    });

    test('a validating webhook refuses, in its own words', async () => {
      webhooks.answer('validating', () => ({ allowed: false, status: { code: 403, message: 'not today' } }));
      await configure('Validating', 'validating');
      const machine = halted('refused', {}, { labels: { test: 'validating' } });
      const { code, stderr } = await cluster().kubectl(['create', '-n', namespace, '-f', '-'], machine);
      assert.equal(code, 1);
      assert.match(stderr, /admission webhook "validating\.example\.com" denied the request: not today/);
    });
  });
}
