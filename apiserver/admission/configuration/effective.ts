/** The configuration that a request is admitted under. */
import { mergePatch } from '../../../openapi/merge-patch.js';
import type { KubeVirt, KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';
import { defaultConfiguration } from './defaults.js';

/** A KubeVirt object's `spec.configuration` over the defaults: maps merge, everything else is replaced. */
export function effectiveConfiguration(kubevirt: KubeVirt | undefined): KubeVirtConfiguration {
  const own = kubevirt?.spec.configuration;
  return own === undefined
    ? defaultConfiguration
    : (mergePatch(defaultConfiguration, own) as KubeVirtConfiguration);
}

/** Caches by the object, so that a request pays nothing while the KubeVirt object stays the same. */
export class ConfigurationSource {
  private current:
    { readonly kubevirt: KubeVirt | undefined; readonly configuration: KubeVirtConfiguration } | undefined;

  /** `kubevirt` returns the object as the server's cache holds it now: another object means another configuration. */
  constructor(private readonly kubevirt: () => KubeVirt | undefined) {}

  get(): KubeVirtConfiguration {
    const kubevirt = this.kubevirt();
    if (this.current === undefined || this.current.kubevirt !== kubevirt) {
      this.current = { kubevirt, configuration: effectiveConfiguration(kubevirt) };
    }
    return this.current.configuration;
  }
}
