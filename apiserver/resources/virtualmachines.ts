import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { age, column, conditionStatus, defineResource, deprecatedV1alpha3, field } from './define.js';

const definition = 'io.kubevirt.v1.VirtualMachine';

export const virtualMachines = defineResource({
  group: 'kubevirt.io',
  kind: 'VirtualMachine',
  plural: 'virtualmachines',
  shortNames: ['vm', 'vms'],
  categories: ['all'],
  versions: [{ name: 'v1', definition }, deprecatedV1alpha3(definition)],
  status: true,
  columns: [
    age,
    column(
      'Status',
      { description: 'What the machine is doing, in a word.' },
      ({ status }: VirtualMachine) => status?.printableStatus,
    ),
    column(
      'Ready',
      { description: 'Whether the guest answers its readiness probe.' },
      ({ status }: VirtualMachine) => conditionStatus(status, 'Ready'),
    ),
  ],
  selectableFields: {
    'spec.runStrategy': field(({ spec }: VirtualMachine) => spec.runStrategy),
    'status.printableStatus': field(({ status }: VirtualMachine) => status?.printableStatus),
  },
});
