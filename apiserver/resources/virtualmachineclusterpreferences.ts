import { defineResource, versions } from './define.js';

export const virtualMachineClusterPreferences = defineResource({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachineClusterPreference',
  plural: 'virtualmachineclusterpreferences',
  shortNames: ['vmcp', 'vmcps'],
  namespaced: false,
  versions: versions('io.kubevirt.instancetype.v1beta1.VirtualMachineClusterPreference', 'v1beta1'),
});
