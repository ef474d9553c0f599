/** Validation of a VirtualMachineInstance when it is created. */
import type { VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';
import { FieldPath } from '../causes.js';
import type { IsComponent } from '../components.js';
import type { AdmissionPlugin } from '../interface.js';
import { graceAnnotations } from './validate/grace.js';
import { metadataCauses } from './validate/metadata.js';
import { instanceCauses, specCauses } from './validate/spec.js';
import { specWarnings } from './warnings.js';

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
      if (causes.length === 0)
        for (const text of specWarnings(vmi.spec, at, configuration)) context.warn(text);
      return causes;
    },
  };
}
