/** Validation of a VirtualMachineInstance when it is created. */
import type { VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';
import { FieldPath } from '../causes.js';
import type { IsComponent } from '../components.js';
import { featureGates, type FeatureGate } from '../configuration/feature-gates.js';
import type { AdmissionPlugin } from '../interface.js';
import { graceAnnotations } from './validate/grace.js';
import { metadataCauses } from './validate/metadata.js';
import { instanceCauses, specCauses } from './validate/spec.js';

export function virtualMachineInstanceValidation(isComponent: IsComponent): AdmissionPlugin {
  return {
    name: 'VirtualMachineInstanceValidation',
    handles: (request) =>
      request.group === 'kubevirt.io' &&
      request.resource === 'virtualmachineinstances' &&
      request.operation === 'CREATE' &&
      request.subresource === undefined,
    validate(request, context) {
      const { configuration } = context;
      // The resource says so: see `handles`.
      const vmi = request.object as VirtualMachineInstance;
      const [at, inMetadata] = [FieldPath.of('spec'), FieldPath.of('metadata')];
      const causes = [
        ...specCauses(vmi.spec, at, configuration),
        ...instanceCauses(vmi.spec, at, configuration),
        ...metadataCauses(vmi.metadata, inMetadata, configuration, isComponent(request.user)),
        ...graceAnnotations(vmi.metadata, inMetadata, { spec: vmi.spec, at, configuration }),
      ];
      if (causes.length === 0) for (const text of specWarnings(vmi, configuration)) context.warn(text);
      return causes;
    },
  };
}

/** What works but is unwise, or works no longer as its name says. */
function specWarnings({ spec }: VirtualMachineInstance, configuration: KubeVirtConfiguration): string[] {
  const { memory, resources } = spec.domain;
  const warnings: string[] = [];
  if (memory?.guest !== undefined && resources?.limits?.['memory'] === memory.guest) {
    warnings.push(
      'spec.domain.resources.limits.memory equals the guest memory: QEMU itself needs some more, so the pod may be killed for want of memory',
    );
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const source = volume.cloudInitNoCloud ?? volume.cloudInitConfigDrive;
    if (source === undefined) continue;
    const hasNetwork = [source.networkData, source.networkDataBase64, source.networkDataSecretRef].some(
      (data) => data !== undefined,
    );
    const hasUser = [source.userData, source.userDataBase64, source.secretRef].some(
      (data) => data !== undefined,
    );
    if (hasNetwork && !hasUser) {
      warnings.push(
        `spec.volumes[${index}] has network data but no user data: some versions of cloud-init then ignore both`,
      );
    }
  }
  for (const gate of configuration.developerConfiguration?.featureGates ?? []) {
    if (Object.hasOwn(featureGates, gate) && featureGates[gate as FeatureGate] === 'Deprecated') {
      warnings.push(`the feature gate ${gate} is deprecated`);
    }
  }
  return warnings;
}
