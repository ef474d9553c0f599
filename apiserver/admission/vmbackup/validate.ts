/** Validation of a VirtualMachineBackup: one at a time of each source. What a source may be, and that it stays so, its schema says. */
import type { VirtualMachineBackup } from '../../../openapi/generated/types/kubevirt_backup_v1alpha1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, invalid } from '../causes.js';
import { requireFeature } from '../configuration/require-feature.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';

export function virtualMachineBackupValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineBackup>({
    name: 'VirtualMachineBackupValidation',
    group: 'backup.kubevirt.io',
    resource: 'virtualmachinebackups',
    async create(backup, { configuration, lookups }) {
      requireFeature(configuration, 'IncrementalBackup', 'a VirtualMachineBackup');
      const { namespace } = backup.metadata;
      return conflicts(
        backup,
        await lookups.list<VirtualMachineBackup>('backup.kubevirt.io', 'virtualmachinebackups', namespace),
      );
    },
  });
}

function conflicts(
  { metadata: { name }, spec }: VirtualMachineBackup,
  others: readonly VirtualMachineBackup[],
): StatusCause[] {
  if (others.some((other) => other.metadata.name === name)) {
    return [
      invalid(
        FieldPath.of('metadata.name'),
        `there is a VirtualMachineBackup ${JSON.stringify(name)} already`,
      ),
    ];
  }
  const running = others.find((other) => !isFinished(other) && sameJson(other.spec.source, spec.source));
  if (running === undefined) return [];
  return [
    invalid(
      FieldPath.of('spec.source'),
      `VirtualMachineBackup ${JSON.stringify(running.metadata.name)} of it is not finished`,
    ),
  ];
}

function isFinished({ status }: VirtualMachineBackup): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: value }) => value === 'True' && (type === 'Complete' || type === 'Failed'),
  );
}
