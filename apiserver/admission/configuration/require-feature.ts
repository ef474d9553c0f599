import type { KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';
import { badRequest } from '../../errors/api-error.js';
import { featureEnabled, type FeatureGate } from './feature-gates.js';

/** Throws BadRequest, as KubeVirt answers for a kind that is switched off as a whole. */
export function requireFeature(configuration: KubeVirtConfiguration, gate: FeatureGate, what: string): void {
  if (!featureEnabled(configuration, gate)) throw badRequest(`${what} needs the feature gate ${gate}`);
}
