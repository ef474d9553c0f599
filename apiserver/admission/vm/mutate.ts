/** Defaults of a VirtualMachine: what it refers to, and what must not change from one run of the guest to the next. */
import { applyArchitecture, applyMachineType } from '../../../openapi/instancetype/preference/preference.js';
import { resolve } from '../../../openapi/instancetype/reference.js';
import type { VirtualMachinePreferenceSpec } from '../../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import type {
  VirtualMachine,
  VirtualMachineInstanceTemplateSpec,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import { invalid } from '../../errors/api-error.js';
import { inferReferences } from '../instancetype/infer.js';
import { storedReferents } from '../instancetype/lookups.js';
import { matcherCauses } from '../instancetype/matchers.js';
import { findDataSource } from '../instancetype/volume-labels.js';
import type { AdmissionLookups, AdmissionPlugin } from '../interface.js';
import { pciTopologyAnnotation, pciTopologyVersion } from '../vmi/constants.js';
import { setArchitecture, setMachineType, supportsPcieHotplug } from '../vmi/defaults/architecture.js';

export const virtualMachineFinalizer = 'kubevirt.io/virtualMachineControllerFinalize';
/** On a DataSource: the architecture of the image behind it. */
const architectureLabel = 'template.kubevirt.io/architecture';
const architectures = ['amd64', 'arm64', 's390x'];

export function virtualMachineDefaults({ uuid }: { readonly uuid: () => string }): AdmissionPlugin {
  return {
    name: 'VirtualMachineDefaults',
    handles: (request) =>
      request.group === 'kubevirt.io' &&
      request.resource === 'virtualmachines' &&
      request.operation !== 'DELETE' &&
      request.subresource === undefined,
    async mutate(request, { configuration, lookups }) {
      // The resource says so: see `handles`.
      const vm = request.object as VirtualMachine;
      const old = request.oldObject as VirtualMachine | undefined;
      if (vm.metadata.deletionTimestamp !== undefined) return;
      // Faults of the references are for validation to tell.
      if (matcherCauses(vm, old).length === 0) await settleReferences(vm, lookups);
      const { template } = vm.spec;
      const { spec } = template;
      if (spec === undefined) return;
      await setArchitectureOfDisk(vm, lookups);
      setArchitecture(spec, configuration);
      setMachineType(spec, configuration);
      if (request.operation !== 'CREATE') return;
      setIdentity(vm, uuid);
      if (supportsPcieHotplug(spec.architecture, spec.domain)) setPciTopology(template);
    },
  };
}

async function settleReferences(vm: VirtualMachine, lookups: AdmissionLookups): Promise<void> {
  const causes = await inferReferences(vm, lookups);
  if (causes.length > 0) throw invalid('kubevirt.io', 'VirtualMachine', vm.metadata.name, causes);
  const preference = await resolve('preference', vm, storedReferents(lookups));
  if (preference.kind === 'found') applyEarly(preference.spec, vm);
}

/** What it would be too late for when an instance is made. */
function applyEarly(preference: VirtualMachinePreferenceSpec, vm: VirtualMachine): void {
  const { spec } = vm.spec.template;
  if (spec !== undefined) {
    applyArchitecture(preference, spec);
    applyMachineType(preference, spec);
  }
  const storageClassName = preference.volumes?.preferredStorageClassName ?? '';
  if (storageClassName === '') return;
  for (const { spec: volume } of vm.spec.dataVolumeTemplates ?? []) {
    for (const claim of [volume.pvc, volume.storage])
      if (claim !== undefined) claim.storageClassName ??= storageClassName;
  }
}

/** The guest has the architecture of the image that one of its volumes is made from. */
async function setArchitectureOfDisk(vm: VirtualMachine, lookups: AdmissionLookups): Promise<void> {
  const { spec } = vm.spec.template;
  if (spec === undefined || (spec.architecture ?? '') !== '') return;
  for (const { spec: volume } of vm.spec.dataVolumeTemplates ?? []) {
    const { kind, name, namespace = '' } = volume.sourceRef ?? { kind: '', name: '' };
    if (kind.toLowerCase() !== 'datasource') continue;
    const named = await findDataSource(lookups, namespace === '' ? vm.metadata.namespace : namespace, name);
    const behind = named?.spec?.source?.dataSource;
    const source =
      behind === undefined ? named : await findDataSource(lookups, behind.namespace, behind.name);
    const architecture = source?.metadata.labels?.[architectureLabel] ?? '';
    if (!architectures.includes(architecture)) continue;
    spec.architecture = architecture;
    return;
  }
}

function setIdentity(vm: VirtualMachine, uuid: () => string): void {
  const domain = vm.spec.template.spec?.domain;
  if (domain !== undefined) {
    const firmware = (domain.firmware ??= {});
    if ((firmware.uuid ?? '') === '') firmware.uuid = uuid();
    if ((firmware.serial ?? '') === '') firmware.serial = uuid();
  }
  const finalizers = (vm.metadata.finalizers ??= []);
  if (!finalizers.includes(virtualMachineFinalizer)) finalizers.push(virtualMachineFinalizer);
}

function setPciTopology(template: VirtualMachineInstanceTemplateSpec): void {
  // Template metadata is free-form: annotations are all that is touched.
  const metadata = (template.metadata ??= {} as NonNullable<typeof template.metadata>);
  if (metadata.annotations?.[pciTopologyAnnotation] !== undefined) return;
  metadata.annotations = { ...metadata.annotations, [pciTopologyAnnotation]: pciTopologyVersion };
}
