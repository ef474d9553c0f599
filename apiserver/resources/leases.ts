import type { Lease } from '../../openapi/generated/types/coordination_v1.js';
import { age, column, defineCoreResource, versions } from './define.js';

export const leases = defineCoreResource({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  plural: 'leases',
  versions: versions('io.k8s.api.coordination.v1.Lease', 'v1'),
  columns: [
    column('Holder', { description: 'Who holds the lease.' }, ({ spec }: Lease) => spec?.holderIdentity),
    age,
  ],
});
