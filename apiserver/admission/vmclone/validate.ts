/** Validation of a VirtualMachineClone: source and target, filters, MAC addresses, patches. */
import type {
  VirtualMachineClone,
  VirtualMachineCloneSpec,
} from '../../../openapi/generated/types/kubevirt_clone_v1beta1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid, unknownWord } from '../causes.js';
import { requireFeature } from '../configuration/require-feature.js';
import { immutableSpec } from '../immutable-spec.js';
import type { AdmissionPlugin } from '../interface.js';
import { parseJsonText } from '../json-text.js';
import { kindAdmission } from '../kind-rules.js';
import { macAddress } from '../vmi/validate/network.js';

const sourceKinds = ['VirtualMachine', 'VirtualMachineSnapshot'];
const targetKinds = ['VirtualMachine'];

export function virtualMachineCloneValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineClone>({
    name: 'VirtualMachineCloneValidation',
    group: 'clone.kubevirt.io',
    resource: 'virtualmachineclones',
    create({ spec }, { configuration }) {
      requireFeature(configuration, 'Snapshot', 'a VirtualMachineClone');
      const at = FieldPath.of('spec');
      return [
        ...sourceCauses(spec, at.child('source')),
        ...targetCauses(spec, at.child('target')),
        ...filterCauses(spec, at),
        ...filterCauses(spec.template ?? {}, at.child('template')),
        ...macAddressCauses(spec, at.child('newMacAddresses')),
        ...patchCauses(spec, at.child('patches')),
      ];
    },
    update: immutableSpec,
  });
}

function sourceCauses(
  { source: { apiGroup = '', kind, name } }: VirtualMachineCloneSpec,
  at: FieldPath,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (apiGroup === '') causes.push(invalid(at.child('apiGroup'), `must be the group of the ${kind}`));
  if (!sourceKinds.includes(kind)) causes.push(invalid(at.child('kind'), unknownWord(kind, sourceKinds)));
  if (name === '') causes.push(invalid(at.child('name'), 'must name what is cloned'));
  return causes;
}

function targetCauses({ source, target }: VirtualMachineCloneSpec, at: FieldPath): StatusCause[] {
  if (target === undefined) return [];
  if (!targetKinds.includes(target.kind))
    return [invalid(at.child('kind'), unknownWord(target.kind, targetKinds))];
  if (source.kind !== target.kind || source.name !== target.name) return [];
  return [
    invalid(
      at.child('name'),
      `${JSON.stringify(target.name)} is the source: a VM can not be cloned to itself`,
    ),
  ];
}

interface Filters {
  readonly annotationFilters?: readonly string[];
  readonly labelFilters?: readonly string[];
}

/** A filter is a key, `!` before one that is left out, `*` after one that only begins so. */
function filterCauses(filters: Filters, at: FieldPath): StatusCause[] {
  return (['annotationFilters', 'labelFilters'] as const).flatMap((name) =>
    (filters[name] ?? []).flatMap((filter, index) =>
      filterFaults(filter).map((fault) =>
        invalid(at.child(name).index(index), `${JSON.stringify(filter)} ${fault}`),
      ),
    ),
  );
}

function filterFaults(filter: string): string[] {
  if (filter === '' || filter === '!') return ['names no key'];
  const faults: string[] = [];
  if (filter.lastIndexOf('!') > 0) faults.push('may have ! at its beginning only');
  if (filter.slice(0, -1).includes('*')) faults.push('may have * at its end only');
  return faults;
}

function macAddressCauses({ newMacAddresses = {} }: VirtualMachineCloneSpec, at: FieldPath): StatusCause[] {
  return Object.entries(newMacAddresses)
    .filter(([, address]) => address !== '' && !macAddress.test(address))
    .map(([name, address]) =>
      invalid(at.child(name), `${JSON.stringify(address)} is no MAC address such as 02:00:17:00:00:01`),
    );
}

function patchCauses({ patches = [] }: VirtualMachineCloneSpec, at: FieldPath): StatusCause[] {
  return patches.flatMap((text, index) => {
    const parsed = parseJsonText(text);
    return parsed.valid ? [] : [invalid(at.index(index), parsed.fault)];
  });
}
