/** DataVolumes that a VM brings along: each filled in one way, and used by a volume of the template. */
import type {
  DataVolumeTemplateSpec,
  VirtualMachine,
  Volume,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { sameJson } from '../../../registry/equal.js';
import { invalid, required, wordCauses, type FieldPath } from '../../causes.js';

const accessModes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem', 'FromStorageProfile'];

/** `at` is the place of the VM's spec. */
export function dataVolumeTemplateCauses(
  vm: VirtualMachine,
  old: VirtualMachine | undefined,
  at: FieldPath,
): StatusCause[] {
  const templates = vm.spec.dataVolumeTemplates ?? [];
  const changed = old === undefined || !sameJson(templates, old.spec.dataVolumeTemplates ?? []);
  const used = new Set((vm.spec.template.spec?.volumes ?? []).map(claimOf));
  return templates.flatMap((template, index) => {
    const place = at.child('dataVolumeTemplates').index(index);
    const faults = templateCauses(template, place);
    if (faults.length > 0) return faults;
    const { name, namespace = '' } = template.metadata;
    const causes = claimCauses(template.spec.pvc, place.child('spec', 'pvc'));
    if (!used.has(name)) {
      causes.push(
        required(
          place,
          `no volume of the template names dataVolume or persistentVolumeClaim ${JSON.stringify(name)}`,
        ),
      );
    }
    if (changed && namespace !== '' && namespace !== vm.metadata.namespace) {
      causes.push(
        invalid(
          place.child('metadata', 'namespace'),
          `${JSON.stringify(namespace)} must be that of the VM, ${JSON.stringify(vm.metadata.namespace)}`,
        ),
      );
    }
    return causes;
  });
}

function claimOf({ dataVolume, persistentVolumeClaim }: Volume): string | undefined {
  return dataVolume?.name ?? persistentVolumeClaim?.claimName;
}

/** The first fault: what follows from it would only repeat it. */
function templateCauses({ metadata, spec }: DataVolumeTemplateSpec, place: FieldPath): StatusCause[] {
  // A template without metadata passes its schema.
  const name = (metadata as Partial<DataVolumeTemplateSpec['metadata']> | undefined)?.name ?? '';
  if (name === '') return [required(place.child('metadata', 'name'), 'must be set')];
  const inSpec = place.child('spec');
  const { pvc, storage, source, sourceRef } = spec;
  if (pvc === undefined && storage === undefined) return [invalid(inSpec, 'must have storage or pvc')];
  if (pvc !== undefined && storage !== undefined)
    return [invalid(inSpec, 'storage and pvc exclude each other')];
  const claim = storage ?? pvc;
  const populated = claim?.dataSource !== undefined || claim?.dataSourceRef !== undefined;
  const filled = source !== undefined || sourceRef !== undefined;
  if (populated && filled) {
    return [
      invalid(
        inSpec.child('source'),
        `${storage === undefined ? 'pvc' : 'storage'} names its data source already: source and sourceRef go without`,
      ),
    ];
  }
  if (!populated && !filled) return [invalid(inSpec.child('source'), 'must have source or sourceRef')];
  if (source === undefined) return [];
  const kinds = Object.entries(source)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([kind]) => kind);
  if (kinds.length === 1) return [];
  return [
    invalid(
      inSpec.child('source'),
      kinds.length === 0
        ? 'must say where the content comes from'
        : `must be one, not ${kinds.join(' and ')}`,
    ),
  ];
}

/** Words of a claim; those of `storage` its schema knows. */
function claimCauses(claim: DataVolumeTemplateSpec['spec']['pvc'], place: FieldPath): StatusCause[] {
  return [
    ...wordCauses(claim?.volumeMode, volumeModes, place.child('volumeMode')),
    ...(claim?.accessModes ?? []).flatMap((mode, index) =>
      wordCauses(mode, accessModes, place.child('accessModes').index(index)),
    ),
  ];
}

/** Two of one name share one DataVolume, which is made as the first says. */
export function dataVolumeTemplateWarnings({ spec }: VirtualMachine): string[] {
  const names = (spec.dataVolumeTemplates ?? []).map(({ metadata }) => metadata.name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) < index))].map(
    (name) => `spec.dataVolumeTemplates has ${JSON.stringify(name)} twice: only the first one counts`,
  );
}
