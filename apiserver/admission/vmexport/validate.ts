/** Validation of a VirtualMachineExport: its source is of a kind that can be exported, and stays the same. */
import type { VirtualMachineExport } from '../../../openapi/generated/types/kubevirt_export_v1.js';
import type { KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid, unknownWord } from '../causes.js';
import { featureEnabled } from '../configuration/feature-gates.js';
import { immutableSpec } from '../immutable-spec.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';

/** What can be exported, and the group that each kind is in. */
const groups: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: '',
  VirtualMachine: 'kubevirt.io',
  VirtualMachineSnapshot: 'snapshot.kubevirt.io',
  VirtualMachineBackup: 'backup.kubevirt.io',
  VirtualMachineTemplate: 'template.kubevirt.io',
};

export function virtualMachineExportValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineExport>({
    name: 'VirtualMachineExportValidation',
    group: 'export.kubevirt.io',
    resource: 'virtualmachineexports',
    create: ({ spec }, { configuration }) =>
      sourceCauses(spec.source, FieldPath.of('spec.source'), configuration),
    update: immutableSpec,
  });
}

function sourceCauses(
  { kind, apiGroup = '', name }: VirtualMachineExport['spec']['source'],
  at: FieldPath,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  const group = Object.hasOwn(groups, kind) ? groups[kind] : undefined;
  if (group === undefined) return [invalid(at.child('kind'), unknownWord(kind, Object.keys(groups)))];
  if (kind === 'VirtualMachineTemplate' && !exportsTemplates(configuration)) {
    return [
      invalid(
        at.child('kind'),
        'a VirtualMachineTemplate needs the feature gates OCIExport and Template, and virtTemplateDeployment enabled',
      ),
    ];
  }
  const causes: StatusCause[] = [];
  if (name === '') causes.push(invalid(at.child('name'), `must name a ${kind}`));
  if (apiGroup !== group) {
    const right = group === '' ? 'left out' : JSON.stringify(group);
    causes.push(
      invalid(
        at.child('apiGroup'),
        `${JSON.stringify(apiGroup)} is not the group of ${kind}: it must be ${right}`,
      ),
    );
  }
  return causes;
}

function exportsTemplates(configuration: KubeVirtConfiguration): boolean {
  return (
    featureEnabled(configuration, 'OCIExport') &&
    featureEnabled(configuration, 'Template') &&
    configuration.virtTemplateDeployment?.enabled !== false
  );
}
