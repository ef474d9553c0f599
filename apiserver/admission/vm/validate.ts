/** Validation of a VirtualMachine: how it runs, and what its instances will be. */
import { cloneJson } from '../../../openapi/clone.js';
import type { KubeVirtConfiguration, VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath } from '../causes.js';
import type { IsComponent } from '../components.js';
import { matcherCauses } from '../instancetype/matchers.js';
import { expandMachine } from '../instancetype/expand.js';
import type { AdmissionContext, AdmissionPlugin, AdmissionRequest } from '../interface.js';
import { setTemplateDefaults } from '../vmi/defaults/spec.js';
import { graceAnnotations } from '../vmi/validate/grace.js';
import { metadataCauses } from '../vmi/validate/metadata.js';
import { discontinuedBindings } from '../vmi/validate/network.js';
import { specCauses } from '../vmi/validate/spec.js';
import { specWarnings } from '../vmi/warnings.js';
import { dataVolumeTemplateCauses, dataVolumeTemplateWarnings } from './validate/data-volume-templates.js';
import { liveUpdateCauses } from './validate/live-update.js';
import { runStrategyCauses } from './validate/run-strategy.js';
import { storageOperationCauses } from './validate/storage-operations.js';
import { volumeRequestCauses } from './validate/volume-requests.js';

export function virtualMachineValidation(isComponent: IsComponent): AdmissionPlugin {
  return {
    name: 'VirtualMachineValidation',
    handles: (request) =>
      request.group === 'kubevirt.io' &&
      request.resource === 'virtualmachines' &&
      request.operation !== 'DELETE' &&
      (request.subresource === undefined || request.subresource === 'status'),
    async validate(request, context) {
      // The resource says so: see `handles`.
      const vm = request.object as VirtualMachine;
      const old = request.oldObject as VirtualMachine | undefined;
      if (vm.metadata.deletionTimestamp !== undefined) return [];
      if (request.subresource === 'status') return volumeRequestCauses(vm, context);
      // What was admitted under another configuration may still be labelled.
      if (old !== undefined && sameJson(old.spec, vm.spec)) return [];
      const causes = await machineCauses(vm, old, request, context, isComponent);
      if (causes.length === 0) for (const text of warningsOf(vm, context)) context.warn(text);
      return causes;
    },
  };
}

async function machineCauses(
  vm: VirtualMachine,
  old: VirtualMachine | undefined,
  { user }: AdmissionRequest,
  context: AdmissionContext,
  isComponent: IsComponent,
): Promise<StatusCause[]> {
  const at = FieldPath.of('spec');
  const expanded = await expandMachine(vm, context);
  return [
    ...matcherCauses(vm, old),
    ...expanded.causes,
    ...(expanded.vm === undefined
      ? []
      : machineSpecCauses(expanded.vm, old, at, context.configuration, isComponent(user))),
    ...(old === undefined ? [] : storageOperationCauses(vm, old, at)),
    ...(await volumeRequestCauses(vm, context)),
  ];
}

/** What the spec of a VM must satisfy wherever it stands: in a VM, or in the template of a pool, of which `at` is the place. */
export function machineSpecCauses(
  vm: VirtualMachine,
  old: VirtualMachine | undefined,
  at: FieldPath,
  configuration: KubeVirtConfiguration,
  byComponent: boolean,
): StatusCause[] {
  const inTemplate = at.child('template');
  const { metadata = {}, spec = { domain: { devices: {} } } } = vm.spec.template;
  const completed = cloneJson(spec);
  setTemplateDefaults(completed, configuration);
  const input = { spec: completed, at: inTemplate.child('spec'), configuration };
  return [
    ...(old === undefined ? discontinuedBindings(input) : []),
    ...metadataCauses(metadata, inTemplate.child('metadata'), configuration, byComponent),
    ...graceAnnotations(metadata, inTemplate.child('metadata'), input),
    ...specCauses(completed, input.at, configuration),
    ...dataVolumeTemplateCauses(vm, old, at),
    ...runStrategyCauses(vm.spec, at, configuration),
    ...liveUpdateCauses(completed, input.at, configuration),
  ];
}

function warningsOf(vm: VirtualMachine, { configuration }: AdmissionContext): string[] {
  const { spec } = vm.spec.template;
  return [
    ...(spec === undefined ? [] : specWarnings(spec, FieldPath.of('spec.template.spec'), configuration)),
    ...dataVolumeTemplateWarnings(vm),
    ...(vm.spec.running === undefined ? [] : ['spec.running is deprecated: use spec.runStrategy']),
  ];
}
