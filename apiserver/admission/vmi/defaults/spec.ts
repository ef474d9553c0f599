/** The defaults of a VMI spec, in the order in which they build on each other. Idempotent. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import { addMissingDisks } from '../../../../openapi/implied-devices.js';
import {
  architectureDefaults,
  setArchitecture,
  setBootloader,
  setMachineType,
  setWatchdog,
} from './architecture.js';
import { setCpuRequest, setMaximumSockets, setModel, setTopology } from './cpu.js';
import { setDiskTargets, setInputs, setPodNetwork, setPullPolicies } from './devices.js';
import { setFeatures, setHypervRequirements, setProbe, setTimers } from './features.js';
import { setGuestMemory, setMaximumGuestMemory } from './memory.js';

export interface SpecDefaultsContext {
  readonly configuration: KubeVirtConfiguration;
  readonly uuid: () => string;
}

/** What instances get, and what the spec of a VM is completed by before it is judged or shown expanded. */
export function setTemplateDefaults(
  spec: VirtualMachineInstanceSpec,
  configuration: KubeVirtConfiguration,
): void {
  setArchitecture(spec, configuration);
  setMachineType(spec, configuration);
  setCpuRequest(spec, configuration);
  setGuestMemory(spec);
  setTopology(spec);
  setPullPolicies(spec);
  const { evictionStrategy } = configuration;
  if (spec.evictionStrategy === undefined && evictionStrategy !== undefined)
    spec.evictionStrategy = evictionStrategy;
  setPodNetwork(spec, configuration);
  addMissingDisks(spec);
}

export function setSpecDefaults(
  spec: VirtualMachineInstanceSpec,
  { configuration, uuid }: SpecDefaultsContext,
): void {
  setTemplateDefaults(spec, configuration);
  setFeatures(spec);
  setTimers(spec);
  const firmware = (spec.domain.firmware ??= {});
  if ((firmware.uuid ?? '') === '') firmware.uuid = uuid();
  setInputs(spec);
  setProbe(spec.livenessProbe);
  setProbe(spec.readinessProbe);
  setHypervRequirements(spec);

  setBootloader(spec);
  setDiskTargets(spec);
  setWatchdog(spec);
  setModel(spec, configuration);
  if (architectureDefaults(spec.architecture).hotplug && configuration.vmRolloutStrategy === 'LiveUpdate') {
    setMaximumSockets(spec, configuration);
    setMaximumGuestMemory(spec, configuration);
  }
}
