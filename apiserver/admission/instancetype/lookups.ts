import type { ControllerRevision } from '../../../openapi/generated/types/apps_v1.js';
import { loadDefinitions } from '../../../openapi/definitions.js';
import {
  instancetypeGroup,
  referredKinds,
  type Referent,
  type Subject,
} from '../../../openapi/instancetype/kinds.js';
import type { ReferentSource } from '../../../openapi/instancetype/reference.js';
import { compileValidator } from '../../../openapi/validate.js';
import type { AdmissionLookups } from '../interface.js';
import { subjects } from './matchers.js';

/** Instancetypes, preferences and their copies as this server has them now. */
export function storedReferents(lookups: AdmissionLookups): ReferentSource {
  return {
    async revision(namespace, name) {
      const revision = await lookups.get<ControllerRevision>('apps', 'controllerrevisions', namespace, name);
      return revision === undefined || fits(revision.data) ? revision : { ...revision, data: {} };
    },
    object: <S extends Subject>(
      { resource }: { readonly resource: string },
      namespace: string | undefined,
      name: string,
    ) => lookups.get<Referent<S>>(instancetypeGroup, resource, namespace, name),
  };
}

const validators = new Map<string, ReturnType<typeof compileValidator>>();

/** Copies are no objects of this server, and may hold anything. */
function fits(data: ControllerRevision['data']): boolean {
  const known = subjects.flatMap((subject) => referredKinds(subject));
  const kind = known.find((each) => each.kind === data?.['kind'])?.kind;
  if (kind === undefined || data === undefined) return false;
  const definition = `io.kubevirt.instancetype.v1beta1.${kind}`;
  const validate = validators.get(kind) ?? compileValidator(loadDefinitions(), definition);
  validators.set(kind, validate);
  return validate(data).length === 0;
}
