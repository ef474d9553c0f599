import type { ConfigMap } from '../../openapi/generated/types/core_v1.js';
import { age, column, defineCoreResource, versions } from './define.js';
import { frozenCauses } from './immutable.js';

export const configMaps = defineCoreResource({
  group: '',
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  versions: versions('io.k8s.api.core.v1.ConfigMap', 'v1'),
  columns: [
    column(
      'Data',
      { type: 'integer', description: 'How many entries it has.' },
      ({ data, binaryData }: ConfigMap) =>
        Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    ),
    age,
  ],
  strategy: { validate: (object, old) => frozenCauses(object, old, ['data', 'binaryData']) },
});
