import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';

/** What a launcher pod depends on besides its VMI. */
export interface LauncherPodSettings {
  readonly configuration: KubeVirtConfiguration;
  /** Image of the `compute` container. */
  readonly launcherImage: string;
  readonly imagePullSecrets: readonly string[];
  /** Whether nodes hand out `devices.kubevirt.io/…`. False in standalone, where launchers open the machine's devices themselves. */
  readonly devicePlugins: boolean;
  /** None if absent. */
  readonly automaticLimits?: AutomaticLimits;
}

/** Limits that a launcher gets where its VMI sets none. */
export interface AutomaticLimits {
  /** One core for each virtual CPU. */
  readonly cpu: boolean;
  /** How often its request the memory limit is, at least 1. Absent: no limit. */
  readonly memoryRatio?: number;
}

/** Guests may be emulated in software where there is no KVM. */
export function allowsEmulation({ configuration, devicePlugins }: LauncherPodSettings): boolean {
  return !devicePlugins || configuration.developerConfiguration?.useEmulation === true;
}
