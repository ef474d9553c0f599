/** Affinity, topology spread and tolerations, by the rules of pods. */
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '../../../../openapi/generated/types/core_v1.js';
import type { LabelSelector, StatusCause } from '../../../../openapi/meta.js';
import {
  labelValueFaults,
  qualifiedNameFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
} from '../../../../openapi/names.js';
import { invalid, unknownWord, wordCauses, type FieldPath } from '../../causes.js';
import type { SpecRule } from './rule.js';

/** A label selector as a schema types it: its operator may be any text. */
type AnySelector = Omit<LabelSelector, 'matchExpressions'> & {
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
};

const nodeOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];
const labelOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** Faults are placed under the spec itself, not under `affinity`, as KubeVirt's users know them. */
export const affinity: SpecRule = ({ spec, at }) => {
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const inNode = at.child('nodeAffinity');
  return [
    ...(nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).flatMap(
      (term, index) =>
        nodeTerm(
          term,
          inNode.child('requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms').index(index),
        ),
    ),
    ...emptyTerms(nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms, inNode),
    ...(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      ({ weight, preference }, index) => {
        const place = inNode.child('preferredDuringSchedulingIgnoredDuringExecution').index(index);
        return [...weightCauses(weight, place), ...nodeTerm(preference, place.child('preference'))];
      },
    ),
    ...podTerms(podAffinity, at.child('podAffinity')),
    ...podTerms(podAntiAffinity, at.child('podAntiAffinity')),
  ];
};

function emptyTerms(terms: readonly NodeSelectorTerm[] | undefined, inNode: FieldPath): StatusCause[] {
  if (terms === undefined || terms.length > 0) return [];
  const field = inNode.child('requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
  return [invalid(field, 'must have at least one term')];
}

function weightCauses(weight: number, place: FieldPath): StatusCause[] {
  return weight >= 1 && weight <= 100
    ? []
    : [invalid(place.child('weight'), `${weight} must be from 1 to 100`)];
}

function nodeTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  place: FieldPath,
): StatusCause[] {
  return [
    ...matchExpressions.flatMap((each, index) =>
      nodeRequirement(each, place.child('matchExpressions').index(index)),
    ),
    ...matchFields.flatMap((each, index) => fieldRequirement(each, place.child('matchFields').index(index))),
  ];
}

function nodeRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  place: FieldPath,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!nodeOperators.includes(operator))
    causes.push(invalid(place.child('operator'), unknownWord(operator, nodeOperators)));
  causes.push(...valuesCauses(operator, values, place));
  if (['Gt', 'Lt'].includes(operator) && values.length !== 1)
    causes.push(invalid(place.child('values'), `${operator} needs one value`));
  return [...causes, ...qualifiedNameFaults(key).map((fault) => invalid(place.child('key'), fault))];
}

function fieldRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  place: FieldPath,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!['In', 'NotIn'].includes(operator))
    causes.push(invalid(place.child('operator'), unknownWord(operator, ['In', 'NotIn'])));
  else if (values.length !== 1) causes.push(invalid(place.child('values'), 'must be one node name'));
  if (key !== 'metadata.name')
    return [...causes, invalid(place.child('key'), unknownWord(key, ['metadata.name']))];
  return [
    ...causes,
    ...values.flatMap((name, index) =>
      dnsSubdomainFaults(name).map((fault) => invalid(place.child('values').index(index), fault)),
    ),
  ];
}

function podTerms(terms: PodAffinity | undefined, field: FieldPath): StatusCause[] {
  return [
    ...(terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap((term, index) =>
      podTerm(term, field.child('requiredDuringSchedulingIgnoredDuringExecution').index(index)),
    ),
    ...(terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      ({ weight, podAffinityTerm }, index) => {
        const place = field.child('preferredDuringSchedulingIgnoredDuringExecution').index(index);
        return [...weightCauses(weight, place), ...podTerm(podAffinityTerm, place.child('podAffinityTerm'))];
      },
    ),
  ];
}

function podTerm(
  { labelSelector, namespaceSelector, namespaces = [], topologyKey }: PodAffinityTerm,
  place: FieldPath,
): StatusCause[] {
  return [
    ...selector(labelSelector, place.child('labelSelector')),
    ...selector(namespaceSelector, place.child('namespaceSelector')),
    ...namespaces.flatMap((name) =>
      dnsLabelFaults(name).map((fault) => invalid(place.child('namespace'), fault)),
    ),
    ...topology(topologyKey, place),
  ];
}

function topology(key: string, place: FieldPath): StatusCause[] {
  const field = place.child('topologyKey');
  if (key === '') return [invalid(field, 'must be set')];
  return qualifiedNameFaults(key).map((fault) => invalid(field, fault));
}

function selector(given: AnySelector | undefined, place: FieldPath): StatusCause[] {
  const labels = Object.entries(given?.matchLabels ?? {});
  return [
    ...labels.flatMap(([key, value]) => [
      ...qualifiedNameFaults(key).map((fault) => invalid(place.child('matchLabels'), fault)),
      ...labelValueFaults(value).map((fault) => invalid(place.child('matchLabels').key(key), fault)),
    ]),
    ...(given?.matchExpressions ?? []).flatMap(({ key, operator, values = [] }, index) => {
      const at = place.child('matchExpressions').index(index);
      return [
        ...(labelOperators.includes(operator)
          ? []
          : [invalid(at.child('operator'), unknownWord(operator, labelOperators))]),
        ...valuesCauses(operator, values, at),
        ...qualifiedNameFaults(key).map((fault) => invalid(at.child('key'), fault)),
        ...values.flatMap((value, position) =>
          labelValueFaults(value).map((fault) => invalid(at.child('values').index(position), fault)),
        ),
      ];
    }),
  ];
}

function valuesCauses(operator: string, values: readonly string[], place: FieldPath): StatusCause[] {
  const field = place.child('values');
  if (['In', 'NotIn'].includes(operator) && values.length === 0)
    return [invalid(field, `${operator} needs at least one value`)];
  if (['Exists', 'DoesNotExist'].includes(operator) && values.length > 0)
    return [invalid(field, `${operator} takes no values`)];
  return [];
}

export const topologySpread: SpecRule = ({ spec, at }) => {
  const all = spec.topologySpreadConstraints ?? [];
  const field = at.child('topologySpreadConstraints');
  return all.flatMap((constraint, index) => {
    const place = field.index(index);
    const actions = ['DoNotSchedule', 'ScheduleAnyway'];
    const twin = all.findIndex(
      (each) =>
        each.topologyKey === constraint.topologyKey &&
        each.whenUnsatisfiable === constraint.whenUnsatisfiable,
    );
    return [
      ...(constraint.maxSkew > 0
        ? []
        : [invalid(place.child('maxSkew'), `${constraint.maxSkew} must be at least 1`)]),
      ...topology(constraint.topologyKey, place),
      ...(actions.includes(constraint.whenUnsatisfiable)
        ? []
        : [invalid(place.child('whenUnsatisfiable'), unknownWord(constraint.whenUnsatisfiable, actions))]),
      ...(twin < index
        ? [
            invalid(
              place.child('{topologyKey, whenUnsatisfiable}'),
              `constraint ${twin} has the same topologyKey and whenUnsatisfiable`,
            ),
          ]
        : []),
      ...selector(constraint.labelSelector, field.child('labelSelector')),
      ...(['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const).flatMap((name) =>
        wordCauses(constraint[name], ['Honor', 'Ignore'], place.child(name)),
      ),
    ];
  });
};

export const tolerations: SpecRule = ({ spec, at }) =>
  (spec.tolerations ?? []).flatMap(({ operator, effect }, index) => {
    const place = at.child('tolerations').index(index);
    return [
      ...wordCauses(operator, ['Exists', 'Equal'], place.child('operator')),
      ...wordCauses(effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'], place.child('effect')),
    ];
  });
