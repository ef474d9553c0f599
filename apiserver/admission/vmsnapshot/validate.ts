/** Validation of a VirtualMachineSnapshot: it is of a VM, and of the same for ever. */
import type { VirtualMachineSnapshot } from '../../../openapi/generated/types/kubevirt_snapshot_v1beta1.js';
import { FieldPath } from '../causes.js';
import { requireFeature } from '../configuration/require-feature.js';
import { immutableSpec } from '../immutable-spec.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';
import { virtualMachineReferenceCauses } from '../virtual-machine-reference.js';

export function virtualMachineSnapshotValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineSnapshot>({
    name: 'VirtualMachineSnapshotValidation',
    group: 'snapshot.kubevirt.io',
    resource: 'virtualmachinesnapshots',
    create({ spec }, { configuration }) {
      requireFeature(configuration, 'Snapshot', 'a VirtualMachineSnapshot');
      return virtualMachineReferenceCauses(spec.source, FieldPath.of('spec.source'));
    },
    update: immutableSpec,
  });
}
