import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import { age, column, defineCoreResource, versions } from './define.js';

const notApplicable = 'N/A';

export const podDisruptionBudgets = defineCoreResource({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  versions: versions('io.k8s.api.policy.v1.PodDisruptionBudget', 'v1'),
  status: true,
  columns: [
    column(
      'Min Available',
      { description: 'How many pods must stay.' },
      ({ spec }: PodDisruptionBudget) => spec?.minAvailable ?? notApplicable,
    ),
    column(
      'Max Unavailable',
      { description: 'How many pods may be missing.' },
      ({ spec }: PodDisruptionBudget) => spec?.maxUnavailable ?? notApplicable,
    ),
    column(
      'Allowed Disruptions',
      { type: 'integer', description: 'How many pods may be evicted now.' },
      ({ status }: PodDisruptionBudget) => status?.disruptionsAllowed ?? 0,
    ),
    age,
  ],
  strategy: { generation: true },
});
