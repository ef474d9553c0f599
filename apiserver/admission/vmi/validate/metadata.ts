/** Labels and annotations of a VMI, or of the template of one. */
import type { KubeVirtConfiguration } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { ObjectMeta, StatusCause } from '../../../../openapi/meta.js';
import { invalid, notSupported, type FieldPath } from '../../causes.js';
import { featureEnabled, type FeatureGate } from '../../configuration/feature-gates.js';
import { reservedLabels } from '../reserved-labels.js';

/** Annotations that do something only with a feature gate. */
const gatedAnnotations: readonly (readonly [string, FeatureGate])[] = [
  ['kubevirt.io/ignitiondata', 'ExperimentalIgnitionSupport'],
  ['hooks.kubevirt.io/hookSidecars', 'Sidecar'],
];

/** `at` is the place of the metadata. */
export function metadataCauses(
  { labels = {}, annotations = {} }: Pick<ObjectMeta, 'labels' | 'annotations'>,
  at: FieldPath,
  configuration: KubeVirtConfiguration,
  isComponent: boolean,
): StatusCause[] {
  const reserved = isComponent ? [] : reservedLabels.filter((label) => label in labels);
  return [
    ...(reserved.length === 0
      ? []
      : [notSupported(at.child('labels'), `${reserved.join(', ')} is reserved`)]),
    ...gatedAnnotations
      .filter(([name, gate]) => (annotations[name] ?? '') !== '' && !featureEnabled(configuration, gate))
      .map(([name, gate]) => invalid(at.child('annotations'), `${name} needs the feature gate ${gate}`)),
  ];
}
