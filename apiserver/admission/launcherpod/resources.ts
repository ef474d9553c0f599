/** What a virtiofs container asks for. A pod is of class Guaranteed only if its every container limits what it requests. */
import type { ResourceRequirements } from '../../../openapi/generated/types/core_v1.js';
import type { DomainSpec, KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { Quantity } from '../../../openapi/meta.js';
import { parseQuantity } from '../../../openapi/quantity.js';

const defaults = {
  requests: { cpu: '10m', memory: '1M' },
  limits: { cpu: '100m', memory: '80M' },
} as const;

export function virtiofsResources(
  domain: DomainSpec,
  { supportContainerResources }: KubeVirtConfiguration,
): ResourceRequirements {
  const configured = supportContainerResources?.find(({ type }) => type === 'virtiofs')?.resources;
  const of = (kind: 'requests' | 'limits', name: 'cpu' | 'memory'): Quantity =>
    configured?.[kind]?.[name] ?? defaults[kind][name];
  const guaranteed = wantsGuaranteed(domain);
  const wholeCpu = guaranteed || domain.cpu?.dedicatedCpuPlacement === true;
  return {
    limits: { cpu: of('limits', 'cpu'), memory: of('limits', 'memory') },
    requests: {
      cpu: of(wholeCpu ? 'limits' : 'requests', 'cpu'),
      memory: of(guaranteed ? 'limits' : 'requests', 'memory'),
    },
  };
}

/** Whether the VMI requests as much as it is limited to. A memory request that is absent follows from the limit. */
function wantsGuaranteed({ resources }: DomainSpec): boolean {
  const nanos = (kind: 'requests' | 'limits', name: 'cpu' | 'memory'): bigint =>
    parseQuantity(resources?.[kind]?.[name] ?? 0).nanos;
  const memory = nanos('limits', 'memory');
  const requestedMemory = nanos('requests', 'memory') || memory;
  const cpu = nanos('requests', 'cpu');
  return memory > 0n && requestedMemory === memory && cpu > 0n && cpu === nanos('limits', 'cpu');
}
