import type { Volume } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { accessCredentialVolume } from '../../openapi/launcher/pod.js';

/** The secrets whose keys and passwords the launcher brings into the guest. A kubelet keeps their files up to date. */
export function accessCredentialVolumes({ spec }: VirtualMachineInstance): Volume[] {
  return (spec.accessCredentials ?? []).flatMap(({ sshPublicKey, userPassword }, index) => {
    const secret = (sshPublicKey ?? userPassword)?.source.secret;
    if (secret === undefined) return [];
    return [{ name: accessCredentialVolume(index), secret: { secretName: secret.secretName } }];
  });
}
