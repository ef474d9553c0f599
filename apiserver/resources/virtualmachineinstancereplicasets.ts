import { defineResource, deprecatedV1alpha3 } from './define.js';
import { replicaColumns, replicaScale } from './replicas.js';

const definition = 'io.kubevirt.v1.VirtualMachineInstanceReplicaSet';

export const virtualMachineInstanceReplicaSets = defineResource({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstanceReplicaSet',
  plural: 'virtualmachineinstancereplicasets',
  shortNames: ['vmirs', 'vmirss'],
  categories: ['all'],
  versions: [{ name: 'v1', definition }, deprecatedV1alpha3(definition)],
  status: true,
  scale: replicaScale,
  columns: replicaColumns,
});
