import { defineResource, deprecatedV1alpha3 } from './define.js';

const definition = 'io.kubevirt.v1.VirtualMachineInstancePreset';

export const virtualMachineInstancePresets = defineResource({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstancePreset',
  plural: 'virtualmachineinstancepresets',
  shortNames: ['vmipreset', 'vmipresets'],
  categories: ['all'],
  versions: [
    {
      name: 'v1',
      definition,
      deprecationWarning:
        'kubevirt.io/v1 VirtualMachineInstancePreset is deprecated; use instance types and preferences',
    },
    deprecatedV1alpha3(definition),
  ],
  storageVersion: 'v1alpha3',
});
