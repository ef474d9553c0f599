import type { ControllerRevision } from '../../openapi/generated/types/apps_v1.js';
import { age, column, defineCoreResource, versions } from './define.js';
import { immutableField } from './immutable.js';

function controller({ metadata: { ownerReferences = [] } }: ControllerRevision): string {
  const owner = ownerReferences.find((reference) => reference.controller === true);
  if (owner === undefined) return '<none>';
  const [group = ''] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : [];
  const kind = owner.kind.toLowerCase();
  return group === '' ? `${kind}/${owner.name}` : `${kind}.${group}/${owner.name}`;
}

export const controllerRevisions = defineCoreResource({
  group: 'apps',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  versions: versions('io.k8s.api.apps.v1.ControllerRevision', 'v1'),
  columns: [
    column('Controller', { description: 'Whose state it captures.' }, controller),
    column(
      'Revision',
      { type: 'integer', description: 'Its place in the order of revisions.' },
      ({ revision }: ControllerRevision) => revision,
    ),
    age,
  ],
  strategy: { validate: immutableField('data', ({ data }: ControllerRevision) => data) },
});
