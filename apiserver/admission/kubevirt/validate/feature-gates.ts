/** Feature gates of a KubeVirt: none both on and off, and what stands behind one is used only where it is on. */
import type { KubeVirtConfiguration } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { sameJson } from '../../../registry/equal.js';
import { forbidden, invalid } from '../../causes.js';
import { featureEnabled, type FeatureGate } from '../../configuration/feature-gates.js';
import { configurationPath, type KubeVirtRule } from './rule.js';

export const featureGateConflicts: KubeVirtRule = ({ configuration }, old) => {
  const { featureGates = [], disabledFeatureGates = [] } = configuration?.developerConfiguration ?? {};
  const before = old.configuration?.developerConfiguration;
  if (
    sameJson(featureGates, before?.featureGates) &&
    sameJson(disabledFeatureGates, before?.disabledFeatureGates)
  ) {
    return [];
  }
  return featureGates
    .filter((gate) => disabledFeatureGates.includes(gate))
    .map((gate) =>
      forbidden(
        configurationPath.child('developerConfiguration', 'featureGates'),
        `${JSON.stringify(gate)} is among disabledFeatureGates too`,
      ),
    );
};

/** What of the configuration needs one of some gates. */
interface Gated {
  readonly path: readonly string[];
  readonly gates: readonly FeatureGate[];
  readonly used: (configuration: KubeVirtConfiguration, old: KubeVirtConfiguration) => boolean;
}

const gated: readonly Gated[] = [
  {
    path: ['virtTemplateDeployment', 'enabled'],
    gates: ['Template'],
    used: ({ virtTemplateDeployment }) => virtTemplateDeployment?.enabled === true,
  },
  {
    path: ['roleAggregationStrategy'],
    gates: ['OptOutRoleAggregation'],
    used: ({ roleAggregationStrategy }) => roleAggregationStrategy === 'Manual',
  },
  {
    path: ['migrations', 'maxDowntimeMs'],
    gates: ['MigrationStallDetection', 'MigrationDowntimeTuning'],
    used: ({ migrations }, old) =>
      migrations?.maxDowntimeMs !== undefined && migrations.maxDowntimeMs !== old.migrations?.maxDowntimeMs,
  },
];

export const featureGateNeeds: KubeVirtRule = ({ configuration = {} }, old): StatusCause[] =>
  gated
    .filter(({ gates, used }) => {
      return (
        used(configuration, old.configuration ?? {}) &&
        !gates.some((gate) => featureEnabled(configuration, gate))
      );
    })
    .map(({ path, gates }) =>
      invalid(configurationPath.child(...path), `needs the feature gate ${gates.join(' or ')}`),
    );
