import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { age, column, conditionStatus, defineResource, deprecatedV1alpha3, field } from './define.js';

/** Selectors of services, budgets and dashboards find the instances of a node by it. */
const nodeNameLabel = 'kubevirt.io/nodeName';

const definition = 'io.kubevirt.v1.VirtualMachineInstance';

export const virtualMachineInstances = defineResource({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstance',
  plural: 'virtualmachineinstances',
  shortNames: ['vmi', 'vmis'],
  categories: ['all'],
  versions: [{ name: 'v1', definition }, deprecatedV1alpha3(definition)],
  status: true,
  columns: [
    age,
    column(
      'Phase',
      { description: 'Where the instance is in its life.' },
      ({ status }: VirtualMachineInstance) => status?.phase,
    ),
    column(
      'IP',
      { description: 'Address of the first network interface.' },
      ({ status }: VirtualMachineInstance) => status?.interfaces?.[0]?.ipAddress,
    ),
    column(
      'NodeName',
      { description: 'Node that the instance runs on.' },
      ({ status }: VirtualMachineInstance) => status?.nodeName,
    ),
    column(
      'Ready',
      { description: 'Whether the guest answers its readiness probe.' },
      ({ status }: VirtualMachineInstance) => conditionStatus(status, 'Ready'),
    ),
    column(
      'Live-Migratable',
      { description: 'Whether the instance can move to another node while it runs.', wide: true },
      ({ status }: VirtualMachineInstance) => conditionStatus(status, 'LiveMigratable'),
    ),
    column(
      'Paused',
      { description: 'Whether its virtual CPUs are stopped.', wide: true },
      ({ status }: VirtualMachineInstance) => conditionStatus(status, 'Paused'),
    ),
  ],
  selectableFields: {
    'status.phase': field(({ status }: VirtualMachineInstance) => status?.phase),
    'status.nodeName': field(({ status }: VirtualMachineInstance) => status?.nodeName),
  },
  strategy: {
    returnsDeletedObject: true,
    /** The label follows the status in the same write, so that a move to another node costs no second one. */
    prepareForUpdate(object) {
      const { nodeName } = (object as VirtualMachineInstance).status ?? {};
      if (nodeName === undefined || nodeName === '') return;
      object.metadata.labels = { ...object.metadata.labels, [nodeNameLabel]: nodeName };
    },
  },
});
