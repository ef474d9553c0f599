/** What the kinds that keep a number of replicas share. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Column, ScalePaths } from '../registry/resource.js';
import { age, column } from './define.js';

interface Replicated extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
}

export const replicaScale: ScalePaths = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  labelSelector: 'status.labelSelector',
};

export const replicaColumns: readonly Column[] = [
  column(
    'Desired',
    { type: 'integer', description: 'How many replicas there should be.' },
    ({ spec }: Replicated) => spec?.replicas,
  ),
  column(
    'Current',
    { type: 'integer', description: 'How many replicas there are.' },
    ({ status }: Replicated) => status?.replicas,
  ),
  column(
    'Ready',
    { type: 'integer', description: 'How many replicas are ready.' },
    ({ status }: Replicated) => status?.readyReplicas,
  ),
  age,
];
