/** What the processes of a launcher pod may do. */
import type { PodSecurityContext, SecurityContext } from '../../openapi/generated/types/core_v1.js';
import { launcherUser } from '../../openapi/launcher/pod.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';

export function podSecurityContext(configuration: KubeVirtConfiguration): PodSecurityContext {
  const profile = configuration.seccompConfiguration?.virtualMachineInstanceProfile?.customProfile;
  return {
    runAsUser: launcherUser,
    runAsGroup: launcherUser,
    runAsNonRoot: true,
    fsGroup: launcherUser,
    // A claim with many files is not walked through at each start.
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile:
      profile?.localhostProfile === undefined
        ? { type: 'RuntimeDefault' }
        : { type: 'Localhost', localhostProfile: profile.localhostProfile },
  };
}

export const containerSecurityContext: SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  runAsUser: launcherUser,
  runAsGroup: launcherUser,
};
