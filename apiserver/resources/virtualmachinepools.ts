import { defineResource, versions } from './define.js';
import { replicaColumns, replicaScale } from './replicas.js';

export const virtualMachinePools = defineResource({
  group: 'pool.kubevirt.io',
  kind: 'VirtualMachinePool',
  plural: 'virtualmachinepools',
  shortNames: ['vmpool', 'vmpools'],
  categories: ['all'],
  versions: versions('io.kubevirt.pool.v1beta1.VirtualMachinePool', 'v1beta1', 'v1alpha1'),
  status: true,
  scale: replicaScale,
  columns: replicaColumns,
});
