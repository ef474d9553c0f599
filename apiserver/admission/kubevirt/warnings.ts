/** What a KubeVirt says that has no effect any longer, or soon will have none. */
import type { KubeVirtSpec } from '../../../openapi/generated/types/kubevirt_v1.js';
import { sameJson } from '../../registry/equal.js';
import { featureGates, type FeatureGate, type FeatureGateState } from '../configuration/feature-gates.js';
import { configurationPath } from './validate/rule.js';

export function deprecations(spec: KubeVirtSpec, old: KubeVirtSpec): string[] {
  return [...gateWarnings(spec, old), ...mediatedDeviceWarnings(spec), ...architectureWarnings(spec)];
}

/** By state; what is Alpha or Beta is there to be switched. */
const gateAdvice: Readonly<Partial<Record<FeatureGateState, string>>> = {
  GA: 'is always on: it can be left out',
  Deprecated: 'is deprecated: it will have no effect in a later release',
  Discontinued: 'no longer exists: naming it has no effect',
};

function gateWarnings({ configuration }: KubeVirtSpec, old: KubeVirtSpec): string[] {
  const { featureGates: gates = [], disabledFeatureGates = [] } = configuration?.developerConfiguration ?? {};
  const before = old.configuration?.developerConfiguration;
  if (
    sameJson(gates, before?.featureGates) &&
    sameJson(disabledFeatureGates, before?.disabledFeatureGates ?? [])
  ) {
    return [];
  }
  return gates.flatMap((gate) => {
    // `hasOwn` has shown it to be one.
    const state = Object.hasOwn(featureGates, gate) ? featureGates[gate as FeatureGate] : undefined;
    const advice = state === undefined ? undefined : gateAdvice[state];
    return advice === undefined ? [] : [`the feature gate ${gate} ${advice}`];
  });
}

function mediatedDeviceWarnings({ configuration }: KubeVirtSpec): string[] {
  const devices = configuration?.mediatedDevicesConfiguration;
  if (devices === undefined) return [];
  const at = configurationPath.child('mediatedDevicesConfiguration');
  const places = [
    { place: at, types: devices.mediatedDevicesTypes },
    ...(devices.nodeMediatedDeviceTypes ?? []).map((node, index) => ({
      place: at.child('nodeMediatedDeviceTypes').index(index),
      types: node.mediatedDevicesTypes,
    })),
  ];
  return places
    .filter(({ types }) => types !== undefined)
    .map(
      ({ place }) =>
        `${place.child('mediatedDevicesTypes').toString()} is deprecated: use mediatedDeviceTypes`,
    );
}

function architectureWarnings({ configuration }: KubeVirtSpec): string[] {
  if (configuration?.architectureConfiguration?.ppc64le === undefined) return [];
  return [
    `${configurationPath.child('architectureConfiguration', 'ppc64le').toString()} has no effect: that architecture is no longer served`,
  ];
}
