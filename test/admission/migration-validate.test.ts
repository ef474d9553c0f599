import { migrationValidation } from '../../apiserver/admission/vmim/validate.js';
import type { VirtualMachineInstanceMigration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { existing, testVectors } from './kind-vectors.js';
import type { VectorRow } from './vectors.js';

const plugin = migrationValidation(({ name }) => name.endsWith(':kubevirt-controller'));

/** The VMI that a row names, and for some rows what kept it from migrating. */
function surroundings({ object }: VectorRow, index: number): KubernetesObject[] {
  const { vmiName = '' } = (object as VirtualMachineInstanceMigration).spec;
  const vmi = (status: Readonly<Record<string, unknown>>): KubernetesObject =>
    existing('VirtualMachineInstance', vmiName, { status });
  const running = vmi({ phase: 'Running' });
  switch (index) {
    case 0:
      return [
        running,
        existing(
          'VirtualMachineInstanceMigration',
          'other',
          { spec: { vmiName }, status: { phase: 'Running' } },
          { labels: { 'kubevirt.io/vmi-name': vmiName } },
        ),
      ];
    case 4:
      return [vmi({ phase: 'Succeeded' })];
    case 5:
      return [
        vmi({
          phase: 'Running',
          conditions: [{ type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable' }],
        }),
      ];
    default:
      return [running];
  }
}

testVectors('migration-create-validate', {
  plugin,
  supply: (row, index) => ({ existing: surroundings(row, index) }),
  corrections: [[/\.migrationPriority$/, '.priority']],
});

testVectors('migration-update-validate', { plugin });
