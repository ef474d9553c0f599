/** Where components and launchers may run, by the rules of pods; and how many components there are. */
import type { Toleration } from '../../../../openapi/generated/types/core_v1.js';
import type { NodePlacement } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { labelValueFaults, qualifiedNameFaults } from '../../../../openapi/names.js';
import { sameJson } from '../../../registry/equal.js';
import { invalid, type FieldPath } from '../../causes.js';
import { affinity } from '../../vmi/validate/scheduling.js';
import { specPath, type KubeVirtRule } from './rule.js';

export const replicas: KubeVirtRule = ({ infra }) =>
  infra?.replicas === 0
    ? [invalid(specPath.child('infra', 'replicas'), '0 must be at least 1: the API needs its components')]
    : [];

export const placement: KubeVirtRule = (spec, old) =>
  (['infra', 'workloads'] as const).flatMap((name) => {
    const wanted = spec[name]?.nodePlacement;
    if (wanted === undefined || sameJson(spec[name], old[name])) return [];
    return placementCauses(wanted, specPath.child(name, 'nodePlacement'));
  });

function placementCauses(
  { nodeSelector = {}, tolerations = [], ...rest }: NodePlacement,
  at: FieldPath,
): StatusCause[] {
  const labels = Object.entries(nodeSelector).flatMap(([key, value]) =>
    [...qualifiedNameFaults(key), ...labelValueFaults(value)].map((fault) =>
      invalid(at.child('nodeSelector').key(key), fault),
    ),
  );
  return [
    ...labels,
    ...tolerations.flatMap((toleration, index) =>
      tolerationCauses(toleration, at.child('tolerations').index(index)),
    ),
    // The rule of instances looks at nothing else of their spec.
    ...affinity({
      spec: { domain: { devices: {} }, ...rest },
      at: at.child('affinity'),
      configuration: {},
    }),
  ];
}

function tolerationCauses(
  { key = '', operator = 'Equal', value = '', effect, tolerationSeconds }: Toleration,
  at: FieldPath,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (key === '' && operator !== 'Exists') {
    causes.push(invalid(at.child('operator'), `${operator} needs a key: only Exists tolerates every taint`));
  }
  if (key !== '') causes.push(...qualifiedNameFaults(key).map((fault) => invalid(at.child('key'), fault)));
  if (operator === 'Exists' && value !== '') {
    causes.push(
      invalid(at.child('value'), `${JSON.stringify(value)} must be left out with the operator Exists`),
    );
  }
  if (operator === 'Equal')
    causes.push(...labelValueFaults(value).map((fault) => invalid(at.child('value'), fault)));
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    causes.push(invalid(at.child('effect'), 'must be NoExecute where tolerationSeconds is set'));
  }
  return causes;
}
