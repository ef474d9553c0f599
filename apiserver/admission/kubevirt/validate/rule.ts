import type { KubeVirtSpec } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { FieldPath } from '../../causes.js';

/** One concern of a KubeVirt's spec. Pure. `old` is empty for a new object; a rule that compares with it lets stand what stood. */
export type KubeVirtRule = (spec: KubeVirtSpec, old: KubeVirtSpec) => StatusCause[];

export const specPath = FieldPath.of('spec');
export const configurationPath = specPath.child('configuration');
