import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { device, given, option, type MachineContext, type Part } from './model.js';

export function hasTpm({ spec }: Pick<VirtualMachineInstance, 'spec'>): boolean {
  const { tpm } = spec.domain.devices;
  return tpm !== undefined && (tpm.enabled ?? true);
}

/** A TPM 2.0, which swtpm emulates. */
export function tpmParts({ vmi }: MachineContext): Part[] {
  if (!hasTpm(vmi)) return [];
  // The model that Windows expects of a TPM which keeps its state.
  const model = vmi.spec.domain.devices.tpm?.persistent ? 'tpm-crb' : 'tpm-tis';
  return [
    option('chardev', `socket,id=tpm,path=${podLayout.tpmSocket}`),
    option('tpmdev', 'emulator,id=tpm0,chardev=tpm'),
    device(model, 'tpm', given, { tpmdev: 'tpm0' }),
  ];
}
