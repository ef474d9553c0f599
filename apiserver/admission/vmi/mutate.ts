/** Defaults of a VirtualMachineInstance when it is created: its spec, its first status, its finalizer. */
import type { KubeVirt, VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';
import { featureEnabled } from '../configuration/feature-gates.js';
import type { AdmissionContext, AdmissionPlugin } from '../interface.js';
import {
  emulatorThreadParityAnnotation,
  nonRootUser,
  pciTopologyAnnotation,
  pciTopologyVersion,
  quoteGenerationSocketAnnotation,
  virtualMachineInstanceFinalizer,
} from './constants.js';
import { supportsPcieHotplug } from './defaults/architecture.js';
import { setSpecDefaults } from './defaults/spec.js';
import { applyPresets } from './presets.js';

export interface MutationDependencies {
  readonly uuid: () => string;
  /** RFC 3339. */
  readonly now: () => string;
}

export function virtualMachineInstanceDefaults(dependencies: MutationDependencies): AdmissionPlugin {
  return {
    name: 'VirtualMachineInstanceDefaults',
    handles: (request) =>
      request.group === 'kubevirt.io' &&
      request.resource === 'virtualmachineinstances' &&
      request.operation === 'CREATE' &&
      request.subresource === undefined,
    async mutate(request, context) {
      // The resource says so: see `handles`.
      const vmi = request.object as VirtualMachineInstance;
      await applyPresets(vmi, context);
      setSpecDefaults(vmi.spec, { configuration: context.configuration, uuid: dependencies.uuid });
      await annotate(vmi, context);
      setFirstStatus(vmi, context, dependencies.now());
      const finalizers = (vmi.metadata.finalizers ??= []);
      if (!finalizers.includes(virtualMachineInstanceFinalizer))
        finalizers.push(virtualMachineInstanceFinalizer);
    },
  };
}

async function annotate(vmi: VirtualMachineInstance, context: AdmissionContext): Promise<void> {
  const { domain, architecture } = vmi.spec;
  const set = (name: string, value: string): void => {
    vmi.metadata.annotations = { ...vmi.metadata.annotations, [name]: value };
  };
  if (
    supportsPcieHotplug(architecture, domain) &&
    vmi.metadata.annotations?.[pciTopologyAnnotation] === undefined
  ) {
    set(pciTopologyAnnotation, pciTopologyVersion);
  }
  const socket = context.configuration.confidentialCompute?.tdx?.attestation?.qgsSocketPath;
  if (domain.launchSecurity?.tdx !== undefined && socket !== undefined && socket !== '') {
    set(quoteGenerationSocketAnnotation, socket);
  }
  if (domain.cpu?.isolateEmulatorThread === true && featureEnabled(context.configuration, 'AlignCPUs')) {
    const kubevirts = await context.lookups.list<KubeVirt>('kubevirt.io', 'kubevirts', undefined, 'cached');
    if (
      kubevirts.some((kubevirt) => emulatorThreadParityAnnotation in (kubevirt.metadata.annotations ?? {}))
    ) {
      set(emulatorThreadParityAnnotation, '');
    }
  }
}

function setFirstStatus(vmi: VirtualMachineInstance, context: AdmissionContext, now: string): void {
  const { cpu, memory } = vmi.spec.domain;
  const status = (vmi.status ??= {});
  if (cpu !== undefined && status.currentCPUTopology === undefined) {
    status.currentCPUTopology = {
      ...(cpu.cores === undefined ? {} : { cores: cpu.cores }),
      ...(cpu.sockets === undefined ? {} : { sockets: cpu.sockets }),
      ...(cpu.threads === undefined ? {} : { threads: cpu.threads }),
    };
  }
  if (memory?.guest !== undefined) {
    const { guest } = memory;
    status.memory = { guestAtBoot: guest, guestCurrent: guest, guestRequested: guest };
  }
  if (!featureEnabled(context.configuration, 'Root')) status.runtimeUser = nonRootUser;
  status.phase = 'Pending';
  status.phaseTransitionTimestamps = [
    ...(status.phaseTransitionTimestamps ?? []),
    { phase: 'Pending', phaseTransitionTimestamp: now },
  ];
}
