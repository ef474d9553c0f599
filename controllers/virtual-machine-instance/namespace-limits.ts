/** Limits of launchers whose VMIs set none: where the KubeVirt object's selector finds the namespace, or a quota there wants them. */
import type { ResourceQuota } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { AutomaticLimits } from '../launcher-pod/settings.js';
import { namespaceIndex, type Informer } from '../runtime/informer.js';
import type { Informers } from '../runtime/informers.js';
import { namespaces, resourceQuotas } from '../runtime/kinds.js';
import { selectorOf } from '../scheduler/selector.js';

/** On namespaces: how often its request a launcher's memory limit is. */
const memoryRatioLabel = 'alpha.kubevirt.io/auto-memory-limits-ratio';
const defaultMemoryRatio = 2;

export class NamespaceLimits {
  readonly quotas: Informer<ResourceQuota>;

  constructor(private readonly informers: Informers) {
    this.quotas = informers.get(resourceQuotas);
  }

  /** Namespaces are mirrored from when their labels first matter: with no selector and no quotas of limits, never. */
  async of(
    namespace: string,
    { autoCPULimitNamespaceLabelSelector: selector }: KubeVirtConfiguration,
    signal: AbortSignal,
  ): Promise<AutomaticLimits> {
    const cpu = this.#limited(namespace, 'cpu');
    const memory = this.#limited(namespace, 'memory');
    if (!memory && (cpu || selector === undefined)) return { cpu };
    const mirrored = this.informers.get(namespaces);
    await mirrored.synced(signal);
    const labels = mirrored.get({ name: namespace })?.metadata.labels;
    return {
      cpu: cpu || selectorOf(selector).matches(labels),
      ...(memory ? { memoryRatio: memoryRatio(labels?.[memoryRatioLabel]) } : {}),
    };
  }

  /** Kubernetes takes no pod there that has no such limit. */
  #limited(namespace: string, resource: 'cpu' | 'memory'): boolean {
    return this.quotas
      .byIndex(namespaceIndex, namespace)
      .some(({ spec }) => spec?.hard?.[`limits.${resource}`] !== undefined);
  }
}

/** A limit below the request is none. */
function memoryRatio(label: string | undefined): number {
  const ratio = Number(label);
  return Number.isFinite(ratio) && ratio >= 1 ? ratio : defaultMemoryRatio;
}
