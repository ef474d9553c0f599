import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';

/** What a launcher pod depends on besides its VMI. */
export interface LauncherPodSettings {
  readonly configuration: KubeVirtConfiguration;
  /** Image of the `compute` container. */
  readonly launcherImage: string;
  readonly imagePullSecrets: readonly string[];
}

/** Where the pod directory (`podLayout`) is inside the `compute` container. */
export const podDirectory = '/var/run/nativirt';
