import { defineResource, versions } from './define.js';

export const virtualMachinePreferences = defineResource({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachinePreference',
  plural: 'virtualmachinepreferences',
  shortNames: ['vmpref', 'vmprefs', 'vmp', 'vmps'],
  categories: ['all'],
  versions: versions('io.kubevirt.instancetype.v1beta1.VirtualMachinePreference', 'v1beta1'),
});
