import { virtualMachineRestoreValidation } from '../../apiserver/admission/vmrestore/validate.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { existing, testVectors, type Supply } from './kind-vectors.js';

const target = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'vm' };
const running = existing('VirtualMachineRestore', 'restore', {
  spec: { target, virtualMachineSnapshotName: 'snapshot' },
});
/** A snapshot of a VM with a persistent TPM. */
const snapshotted: readonly KubernetesObject[] = [
  existing('VirtualMachineSnapshot', 'snapshot', {
    status: { sourceUID: 'vm-uid', virtualMachineSnapshotContentName: 'content' },
  }),
  existing('VirtualMachineSnapshotContent', 'content', {
    spec: {
      source: {
        virtualMachine: {
          spec: { template: { spec: { domain: { devices: { tpm: { persistent: true } } } } } },
        },
      },
    },
  }),
];

const supplies: Readonly<Record<number, Supply>> = {
  0: { configuration: { developerConfiguration: { disabledFeatureGates: ['Snapshot'] } } },
  7: { existing: [running] },
  14: { existing: snapshotted },
};

testVectors('vmrestore-validate', {
  plugin: virtualMachineRestoreValidation(),
  supply: (_row, index) => supplies[index] ?? {},
});
