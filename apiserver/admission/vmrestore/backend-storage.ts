/** The state of TPM and EFI variables belongs to one VM, and can not be restored into another. */
import type {
  VirtualMachine,
  VirtualMachineInstanceSpec,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type {
  VirtualMachineRestore,
  VirtualMachineSnapshot,
  VirtualMachineSnapshotContent,
} from '../../../openapi/generated/types/kubevirt_snapshot_v1beta1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { badRequest } from '../../errors/api-error.js';
import { invalid, type FieldPath } from '../causes.js';
import type { AdmissionLookups } from '../interface.js';

const group = 'snapshot.kubevirt.io';

/** Throws BadRequest for a snapshot that has no content to restore from. */
export async function backendStorageCauses(
  { metadata: { namespace }, spec }: VirtualMachineRestore,
  at: FieldPath,
  lookups: AdmissionLookups,
): Promise<StatusCause[]> {
  const name = spec.virtualMachineSnapshotName;
  const snapshot = await lookups.get<VirtualMachineSnapshot>(
    group,
    'virtualmachinesnapshots',
    namespace,
    name,
  );
  // A restore may be made before its snapshot.
  if (snapshot === undefined) return [];
  const target = await lookups.get<VirtualMachine>(
    'kubevirt.io',
    'virtualmachines',
    namespace,
    spec.target.name,
  );
  const { sourceUID, virtualMachineSnapshotContentName: contentName } = snapshot.status ?? {};
  const same = target !== undefined && (sourceUID === undefined || target.metadata.uid === sourceUID);
  if (same) return [];
  if (contentName === undefined) throw badRequest(`the VirtualMachineSnapshot "${name}" has no content yet`);
  const content = await lookups.get<VirtualMachineSnapshotContent>(
    group,
    'virtualmachinesnapshotcontents',
    namespace,
    contentName,
  );
  const source = content?.spec.source.virtualMachine;
  if (source === undefined) {
    throw badRequest(`the VirtualMachineSnapshotContent "${contentName}" holds no VirtualMachine`);
  }
  const template = source.spec?.template.spec;
  if (template === undefined || !needsBackendStorage(template)) return [];
  return [
    invalid(
      at,
      'the snapshot is of a VM with a persistent TPM or persistent EFI variables: it can be restored only to that VM',
    ),
  ];
}

function needsBackendStorage({ domain }: VirtualMachineInstanceSpec): boolean {
  const { tpm } = domain.devices;
  const tpmPersists = tpm !== undefined && tpm.enabled !== false && tpm.persistent === true;
  return tpmPersists || domain.firmware?.bootloader?.efi?.persistent === true;
}
