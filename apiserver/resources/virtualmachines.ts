import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { age, column, conditionStatus, defineResource, deprecatedV1alpha3, field } from './define.js';

/** Those by which a new VM is started without being asked. */
const startedAtOnce = ['Always', 'Once', 'RerunOnFailure'];

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
  strategy: {
    returnsDeletedObject: true,
    /** What becomes of it is clear before a controller has seen it; that it need not say so saves a write. */
    prepareForCreate(object) {
      // Whether it has a spec at all is checked later.
      const vm: KubernetesObject & Partial<Pick<VirtualMachine, 'spec' | 'status'>> = object;
      const { running, runStrategy = running === true ? 'Always' : 'Halted' } = vm.spec ?? {};
      vm.status = { printableStatus: startedAtOnce.includes(runStrategy) ? 'Starting' : 'Stopped' };
    },
  },
});
