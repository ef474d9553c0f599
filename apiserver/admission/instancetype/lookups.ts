import type { ControllerRevision } from '../../../openapi/generated/types/apps_v1.js';
import { instancetypeGroup, type Referent, type Subject } from '../../../openapi/instancetype/kinds.js';
import type { ReferentSource } from '../../../openapi/instancetype/reference.js';
import type { AdmissionLookups } from '../interface.js';

/** Instancetypes, preferences and their copies as this server has them now. */
export function storedReferents(lookups: AdmissionLookups): ReferentSource {
  return {
    revision: (namespace, name) =>
      lookups.get<ControllerRevision>('apps', 'controllerrevisions', namespace, name),
    object: <S extends Subject>(
      { resource }: { readonly resource: string },
      namespace: string | undefined,
      name: string,
    ) => lookups.get<Referent<S>>(instancetypeGroup, resource, namespace, name),
  };
}
