/** Kubernetes' quality-of-service class of a pod, by what its containers ask for. */
import type { PodSpec, PodStatus } from '../../openapi/generated/types/core_v1.js';
import type { Quantity } from '../../openapi/meta.js';
import { toUnits } from '../../openapi/quantity.js';

const counted = ['cpu', 'memory'] as const;

function isSet(quantity: Quantity | undefined): quantity is Quantity {
  return quantity !== undefined && toUnits(quantity) > 0;
}

export function qosClass(spec: PodSpec): NonNullable<PodStatus['qosClass']> {
  let any = false;
  let guaranteed = true;
  for (const { resources = {} } of spec.containers) {
    for (const name of counted) {
      const limit = resources.limits?.[name];
      const request = resources.requests?.[name] ?? limit;
      any ||= isSet(request) || isSet(limit);
      guaranteed &&= isSet(request) && isSet(limit) && toUnits(request) === toUnits(limit);
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
