import { defineResource, versions } from './define.js';

export const virtualMachineClusterInstancetypes = defineResource({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachineClusterInstancetype',
  plural: 'virtualmachineclusterinstancetypes',
  shortNames: ['vmclusterinstancetype', 'vmclusterinstancetypes', 'vmcf', 'vmcfs'],
  namespaced: false,
  versions: versions('io.kubevirt.instancetype.v1beta1.VirtualMachineClusterInstancetype', 'v1beta1'),
});
