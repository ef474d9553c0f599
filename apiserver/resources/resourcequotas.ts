import type { ResourceQuota } from '../../openapi/generated/types/core_v1.js';
import { age, column, defineCoreResource, versions } from './define.js';

/** `pods: 1/5, requests.cpu: 1/4`, of limits or of everything else. */
function usage({ status }: ResourceQuota, limits: boolean): string {
  return Object.entries(status?.hard ?? {})
    .filter(([name]) => name.startsWith('limits.') === limits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${status?.used?.[name] ?? '0'}/${hard}`)
    .join(', ');
}

export const resourceQuotas = defineCoreResource({
  group: '',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  versions: versions('io.k8s.api.core.v1.ResourceQuota', 'v1'),
  strategy: { returnsDeletedObject: true },
  status: true,
  columns: [
    column(
      'Request',
      { description: 'What is used of the requests that are allowed.' },
      (quota: ResourceQuota) => usage(quota, false),
    ),
    column('Limit', { description: 'What is used of the limits that are allowed.' }, (quota: ResourceQuota) =>
      usage(quota, true),
    ),
    age,
  ],
});
