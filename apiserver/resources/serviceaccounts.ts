import type { ServiceAccount } from '../../openapi/generated/types/core_v1.js';
import { age, column, defineCoreResource, versions } from './define.js';

export const serviceAccounts = defineCoreResource({
  group: '',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  versions: versions('io.k8s.api.core.v1.ServiceAccount', 'v1'),
  strategy: { returnsDeletedObject: true },
  columns: [
    column(
      'Secrets',
      { type: 'integer', description: 'How many secrets it names.' },
      ({ secrets }: ServiceAccount) => secrets?.length ?? 0,
    ),
    age,
  ],
});
