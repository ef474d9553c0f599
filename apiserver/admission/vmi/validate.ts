/** Validation of a VirtualMachineInstance when it is created. */
import type { VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid, notSupported } from '../causes.js';
import type { IsComponent } from '../components.js';
import { featureEnabled, featureGates, type FeatureGate } from '../configuration/feature-gates.js';
import type { AdmissionPlugin } from '../interface.js';
import { reservedLabels } from './reserved-labels.js';
import { instanceCauses, specCauses } from './validate/spec.js';

const ignitionAnnotation = 'kubevirt.io/ignitiondata';
const sidecarsAnnotation = 'hooks.kubevirt.io/hookSidecars';

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
      const at = FieldPath.of('spec');
      const causes = [
        ...specCauses(vmi.spec, at, configuration),
        ...instanceCauses(vmi.spec, at, configuration),
        ...metadataCauses(vmi, configuration, isComponent(request.user)),
      ];
      if (causes.length === 0) for (const text of specWarnings(vmi, configuration)) context.warn(text);
      return causes;
    },
  };
}

function metadataCauses(
  { metadata }: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
  isComponent: boolean,
): StatusCause[] {
  const at = FieldPath.of('metadata');
  const { labels = {}, annotations = {} } = metadata;
  const causes: StatusCause[] = [];
  const reserved = reservedLabels.filter((label) => label in labels);
  if (!isComponent && reserved.length > 0)
    causes.push(notSupported(at.child('labels'), `${reserved.join(', ')} is reserved`));
  const gated: readonly (readonly [string, FeatureGate])[] = [
    [ignitionAnnotation, 'ExperimentalIgnitionSupport'],
    [sidecarsAnnotation, 'Sidecar'],
  ];
  for (const [annotation, gate] of gated) {
    if ((annotations[annotation] ?? '') !== '' && !featureEnabled(configuration, gate)) {
      causes.push(invalid(at.child('annotations'), `${annotation} needs the feature gate ${gate}`));
    }
  }
  return causes;
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
