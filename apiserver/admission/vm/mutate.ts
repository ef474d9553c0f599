/** Defaults of a VirtualMachine: what must not change from one run of the guest to the next. */
import type { VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { AdmissionPlugin } from '../interface.js';
import { pciTopologyAnnotation, pciTopologyVersion } from '../vmi/constants.js';
import { setArchitecture, setMachineType, supportsPcieHotplug } from '../vmi/defaults/architecture.js';

export const virtualMachineFinalizer = 'kubevirt.io/virtualMachineControllerFinalize';

export function virtualMachineDefaults({ uuid }: { readonly uuid: () => string }): AdmissionPlugin {
  return {
    name: 'VirtualMachineDefaults',
    handles: (request) =>
      request.group === 'kubevirt.io' &&
      request.resource === 'virtualmachines' &&
      request.operation !== 'DELETE' &&
      request.subresource === undefined,
    mutate(request, { configuration }) {
      // The resource says so: see `handles`.
      const vm = request.object as VirtualMachine;
      if (vm.metadata.deletionTimestamp !== undefined) return;
      const template = vm.spec.template;
      const spec = template.spec;
      if (spec === undefined) return;
      if (request.operation === 'CREATE') {
        const firmware = (spec.domain.firmware ??= {});
        if ((firmware.uuid ?? '') === '') firmware.uuid = uuid();
        if ((firmware.serial ?? '') === '') firmware.serial = uuid();
        const finalizers = (vm.metadata.finalizers ??= []);
        if (!finalizers.includes(virtualMachineFinalizer)) finalizers.push(virtualMachineFinalizer);
      }
      setArchitecture(spec, configuration);
      setMachineType(spec, configuration);
      if (request.operation === 'CREATE' && supportsPcieHotplug(spec.architecture, spec.domain)) {
        // Template metadata is free-form: annotations are all that is touched.
        const metadata = (template.metadata ??= {} as NonNullable<typeof template.metadata>);
        if (metadata.annotations?.[pciTopologyAnnotation] === undefined) {
          metadata.annotations = { ...metadata.annotations, [pciTopologyAnnotation]: pciTopologyVersion };
        }
      }
    },
  };
}
