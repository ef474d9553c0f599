import type { VirtualMachineInstanceMigration } from '../../openapi/generated/types/kubevirt_v1.js';
import { column, defineResource, deprecatedV1alpha3, field } from './define.js';

const definition = 'io.kubevirt.v1.VirtualMachineInstanceMigration';

export const virtualMachineInstanceMigrations = defineResource({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstanceMigration',
  plural: 'virtualmachineinstancemigrations',
  shortNames: ['vmim', 'vmims'],
  categories: ['all'],
  versions: [{ name: 'v1', definition }, deprecatedV1alpha3(definition)],
  status: true,
  strategy: { returnsDeletedObject: true },
  columns: [
    column(
      'Phase',
      { description: 'How far the migration is.' },
      ({ status }: VirtualMachineInstanceMigration) => status?.phase,
    ),
    column(
      'VMI',
      { description: 'The instance that moves.' },
      ({ spec }: VirtualMachineInstanceMigration) => spec.vmiName,
    ),
  ],
  selectableFields: {
    'spec.vmiName': field(({ spec }: VirtualMachineInstanceMigration) => spec.vmiName),
    'status.phase': field(({ status }: VirtualMachineInstanceMigration) => status?.phase),
  },
});
