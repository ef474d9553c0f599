/** The claim that holds what of a guest's TPM and EFI outlives its pod. */
import type { Volume as PodVolume } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';

/** Its directory in the pod. */
const volumeName = podLayout.persistentState.slice(podLayout.volumes.length + 1);

/** The same for all instances of one VM; undefined: nothing is to outlive the pod. */
export function persistentStateClaim({ metadata, spec }: VirtualMachineInstance): string | undefined {
  const { devices, firmware } = spec.domain;
  const tpm = devices.tpm?.persistent === true && devices.tpm.enabled !== false;
  const wanted = tpm || firmware?.bootloader?.efi?.persistent === true;
  return wanted ? `persistent-state-for-${metadata.name}` : undefined;
}

export function persistentStateVolumes(vmi: VirtualMachineInstance): PodVolume[] {
  const claimName = persistentStateClaim(vmi);
  return claimName === undefined ? [] : [{ name: volumeName, persistentVolumeClaim: { claimName } }];
}
