import type { PriorityClass } from '../../openapi/generated/types/scheduling_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { age, column, defineCoreResource, versions } from './define.js';
import { immutableField } from './immutable.js';

const fixed = [
  immutableField('value', ({ value }: PriorityClass) => value ?? 0),
  immutableField('preemptionPolicy', ({ preemptionPolicy }: PriorityClass) => preemptionPolicy),
];

/** The registry gives a kind's functions objects of that kind only. */
function applyDefaults(object: KubernetesObject): void {
  const priorityClass = object as PriorityClass;
  priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
}

export const priorityClasses = defineCoreResource({
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  versions: versions('io.k8s.api.scheduling.v1.PriorityClass', 'v1'),
  columns: [
    column(
      'Value',
      { type: 'integer', description: 'Pods of a higher value go first.' },
      ({ value }: PriorityClass) => value ?? 0,
    ),
    column(
      'Global-Default',
      { type: 'boolean', description: 'Whether pods without a class get it.' },
      ({ globalDefault }: PriorityClass) => globalDefault ?? false,
    ),
    age,
    column(
      'PreemptionPolicy',
      { description: 'Whether its pods displace others.' },
      ({ preemptionPolicy }: PriorityClass) => preemptionPolicy,
    ),
  ],
  strategy: {
    prepareForCreate: applyDefaults,
    prepareForUpdate: applyDefaults,
    validate: (object, old) => fixed.flatMap((rule) => rule(object, old)),
  },
});
