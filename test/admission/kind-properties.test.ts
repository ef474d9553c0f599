/** What holds for every object of the kinds beside VM and VMI: admission answers, and what it admitted it admits again. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { KubernetesObject } from '../../openapi/meta.js';
import { shaped } from './arbitrary.js';
import { startAdmission } from './server.js';

/** All that is gated is open, so that the rules behind the gates are met too. */
const configuration = {
  developerConfiguration: {
    featureGates: [
      'IncrementalBackup',
      'MigrationDowntimeTuning',
      'MigrationStallDetection',
      'OCIExport',
      'Plugins',
    ],
  },
};

/** Each with the definition of its spec. */
const kinds: readonly (readonly [apiVersion: string, kind: string, specDefinition: string])[] = [
  ['kubevirt.io/v1', 'KubeVirt', 'io.kubevirt.v1.KubeVirtSpec'],
  [
    'kubevirt.io/v1',
    'VirtualMachineInstanceReplicaSet',
    'io.kubevirt.v1.VirtualMachineInstanceReplicaSetSpec',
  ],
  ['kubevirt.io/v1', 'VirtualMachineInstancePreset', 'io.kubevirt.v1.VirtualMachineInstancePresetSpec'],
  ['kubevirt.io/v1', 'VirtualMachineInstanceMigration', 'io.kubevirt.v1.VirtualMachineInstanceMigrationSpec'],
  ['pool.kubevirt.io/v1beta1', 'VirtualMachinePool', 'io.kubevirt.pool.v1beta1.VirtualMachinePoolSpec'],
  [
    'migrations.kubevirt.io/v1alpha1',
    'MigrationPolicy',
    'io.kubevirt.migrations.v1alpha1.MigrationPolicySpec',
  ],
  [
    'snapshot.kubevirt.io/v1beta1',
    'VirtualMachineSnapshot',
    'io.kubevirt.snapshot.v1beta1.VirtualMachineSnapshotSpec',
  ],
  [
    'snapshot.kubevirt.io/v1beta1',
    'VirtualMachineRestore',
    'io.kubevirt.snapshot.v1beta1.VirtualMachineRestoreSpec',
  ],
  ['export.kubevirt.io/v1', 'VirtualMachineExport', 'io.kubevirt.export.v1.VirtualMachineExportSpec'],
  ['clone.kubevirt.io/v1beta1', 'VirtualMachineClone', 'io.kubevirt.clone.v1beta1.VirtualMachineCloneSpec'],
  [
    'backup.kubevirt.io/v1alpha1',
    'VirtualMachineBackup',
    'io.kubevirt.backup.v1alpha1.VirtualMachineBackupSpec',
  ],
  ['plugin.kubevirt.io/v1alpha1', 'Plugin', 'io.kubevirt.plugin.v1alpha1.PluginSpec'],
];

for (const [apiVersion, kind, specDefinition] of kinds) {
  test(`every spec of the shape of a ${kind} gets an answer, twice the same`, async (t) => {
    const server = await startAdmission(configuration);
    t.after(() => server.close());
    const answerTo = async (spec: unknown): ReturnType<typeof server.tryObject> => {
      const answer = await server.tryObject({ apiVersion, kind, metadata: { name: 'random' }, spec });
      // An error of the server's own would be none of these.
      assert.ok([201, 400, 422].includes(answer.status), `${answer.status} ${answer.message}`);
      for (const { message = '' } of answer.causes) assert.notEqual(message, '');
      return answer;
    };
    await fc.assert(
      fc.asyncProperty(shaped(specDefinition), async (spec) => {
        const { object } = await answerTo(spec);
        if (object === undefined) return;
        const again = await answerTo((object as KubernetesObject & { readonly spec: unknown }).spec);
        assert.deepEqual(again.object, { ...object, metadata: again.object?.metadata }, again.message);
      }),
      { numRuns: 100 },
    );
  });
}
