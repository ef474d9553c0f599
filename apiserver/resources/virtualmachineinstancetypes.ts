import { defineResource, versions } from './define.js';

export const virtualMachineInstancetypes = defineResource({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachineInstancetype',
  plural: 'virtualmachineinstancetypes',
  shortNames: ['vminstancetype', 'vminstancetypes', 'vmf', 'vmfs'],
  categories: ['all'],
  versions: versions('io.kubevirt.instancetype.v1beta1.VirtualMachineInstancetype', 'v1beta1'),
});
