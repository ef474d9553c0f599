import type { VirtualMachineExport } from '../../openapi/generated/types/kubevirt_export_v1.js';
import { column, defineResource } from './define.js';

const definition = 'io.kubevirt.export.v1.VirtualMachineExport';

export const virtualMachineExports = defineResource({
  group: 'export.kubevirt.io',
  kind: 'VirtualMachineExport',
  plural: 'virtualmachineexports',
  shortNames: ['vmexport', 'vmexports'],
  categories: ['all'],
  versions: [
    { name: 'v1', definition },
    {
      name: 'v1beta1',
      definition,
      deprecationWarning:
        'export.kubevirt.io/v1beta1 VirtualMachineExport is deprecated; use export.kubevirt.io/v1',
    },
  ],
  status: true,
  columns: [
    column(
      'SourceKind',
      { description: 'Kind of what is exported.' },
      ({ spec }: VirtualMachineExport) => spec.source.kind,
    ),
    column(
      'SourceName',
      { description: 'Name of what is exported.' },
      ({ spec }: VirtualMachineExport) => spec.source.name,
    ),
    column(
      'Phase',
      { description: 'How far the export is.' },
      ({ status }: VirtualMachineExport) => status?.phase,
    ),
  ],
});
