/** Our audit log names the users that kube-apiserver knows. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import { eventually } from '../../../e2e/harness.js';
import type { KubernetesCluster } from '../cluster.js';
import { halted } from '../manifests.js';

const namespace = 'audited';

interface Event {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string; readonly groups: readonly string[] };
  readonly sourceIPs: readonly string[];
  readonly objectRef?: { readonly namespace?: string; readonly resource: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
}

export function auditSuite(cluster: () => KubernetesCluster): void {
  describe('audit', () => {
    before(() => cluster().createNamespace(namespace));

    test('a write is recorded with who made it', async () => {
      const machines = `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`;
      await cluster().must('POST', machines, halted('seen'));
      let events: Event[] = [];
      await eventually('the event is written', async () => {
        const text = await readFile(cluster().auditLog, 'utf8');
        events = text
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Event)
          .filter(
            ({ objectRef, verb, stage }) =>
              objectRef?.namespace === namespace && verb === 'create' && stage === 'ResponseComplete',
          );
        return events.length > 0;
      });
      const [event] = events;
      assert.equal(event?.user.username, 'admin');
      assert.ok(event.user.groups.includes('system:masters'));
      assert.equal(event.responseStatus?.code, 201);
      assert.equal(event.objectRef?.name, 'seen');
    });
  });
}
