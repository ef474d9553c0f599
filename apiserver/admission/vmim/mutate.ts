/** Defaults of a VirtualMachineInstanceMigration: the label by which it is found, and the finalizer that lets it end in order. */
import type { VirtualMachineInstanceMigration } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';
import { migrationFinalizer, migrationLabel } from './names.js';

export function migrationDefaults(): AdmissionPlugin {
  return kindAdmission<VirtualMachineInstanceMigration>({
    name: 'MigrationDefaults',
    group: 'kubevirt.io',
    resource: 'virtualmachineinstancemigrations',
    prepare({ metadata, spec }) {
      metadata.labels = { ...metadata.labels, [migrationLabel]: spec.vmiName ?? '' };
      const finalizers = (metadata.finalizers ??= []);
      if (!finalizers.includes(migrationFinalizer)) finalizers.push(migrationFinalizer);
    },
  });
}
