/** authorization.k8s.io: may somebody do something? What `kubectl auth can-i` and other servers ask. */
import type {
  LocalSubjectAccessReview,
  ResourceRule,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewStatus,
} from '../../openapi/generated/types/authorization_v1.js';
import type { StatusCause } from '../../openapi/meta.js';
import type { VirtualResource } from '../discovery/virtual-resource.js';
import { badRequest, invalid } from '../errors/api-error.js';
import type { RequestContext, UserInfo } from '../request.js';
import type { Attributes, Authorizer } from './authorizer.js';
import type { RbacPolicy } from './rbac/policy.js';

const group = 'authorization.k8s.io';
const version = 'v1';

function described(kind: string, namespaced: boolean): Omit<VirtualResource, 'create'> {
  const singular = kind.toLowerCase();
  return {
    group,
    version,
    kind,
    plural: `${singular}s`,
    singular,
    namespaced,
    definition: `io.k8s.api.authorization.v1.${kind}`,
  };
}

export function selfSubjectAccessReviews(authorizer: Authorizer): VirtualResource<SelfSubjectAccessReview> {
  return {
    ...described('SelfSubjectAccessReview', false),
    async create(context, review) {
      checkSpec('SelfSubjectAccessReview', review.spec, []);
      return { ...review, status: await ask(authorizer, context, context.user, review.spec) };
    },
  };
}

export function subjectAccessReviews(authorizer: Authorizer): VirtualResource<SubjectAccessReview> {
  return {
    ...described('SubjectAccessReview', false),
    async create(context, review) {
      checkSpec('SubjectAccessReview', review.spec, subjectCauses(review.spec));
      return { ...review, status: await ask(authorizer, context, subject(review.spec), review.spec) };
    },
  };
}

export function localSubjectAccessReviews(authorizer: Authorizer): VirtualResource<LocalSubjectAccessReview> {
  return {
    ...described('LocalSubjectAccessReview', true),
    async create(context, review) {
      const { spec } = review;
      checkSpec('LocalSubjectAccessReview', spec, subjectCauses(spec));
      const { namespace = '' } = context.info;
      if (spec.resourceAttributes?.namespace !== namespace) {
        throw badRequest(
          `spec.resourceAttributes.namespace must be the namespace of the request, ${namespace}`,
        );
      }
      return { ...review, status: await ask(authorizer, context, subject(spec), spec) };
    },
  };
}

/** Lists what RBAC allows, and what being in system:masters does. */
export function selfSubjectRulesReviews(policy: RbacPolicy): VirtualResource<SelfSubjectRulesReview> {
  return {
    ...described('SelfSubjectRulesReview', false),
    create(context, review) {
      const { namespace = '' } = review.spec;
      if (namespace === '')
        throw badRequest('spec.namespace: the namespace to list the rules of is required');
      const resourceRules: ResourceRule[] = [];
      const nonResourceRules: { verbs: string[]; nonResourceURLs?: string[] }[] = [];
      const masters = context.user.groups.includes('system:masters');
      if (masters) {
        resourceRules.push({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
        nonResourceRules.push({ verbs: ['*'], nonResourceURLs: ['*'] });
      }
      for (const { rule } of policy.rulesFor(context.user, namespace)) {
        const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule.source;
        if (resources !== undefined && resources.length > 0) {
          resourceRules.push({
            verbs,
            ...(apiGroups === undefined ? {} : { apiGroups }),
            resources,
            ...(resourceNames === undefined ? {} : { resourceNames }),
          });
        }
        if (nonResourceURLs !== undefined && nonResourceURLs.length > 0) {
          nonResourceRules.push({ verbs, nonResourceURLs });
        }
      }
      return Promise.resolve({
        ...review,
        status: { resourceRules, nonResourceRules, incomplete: false },
      });
    },
  };
}

type Spec = SelfSubjectAccessReviewSpec & {
  readonly user?: string;
  readonly groups?: string[];
  readonly uid?: string;
  readonly extra?: Record<string, string[]>;
};

function checkSpec(kind: string, spec: Spec, more: readonly StatusCause[]): void {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const causes = [...more];
  if ((resourceAttributes === undefined) === (nonResourceAttributes === undefined)) {
    causes.push({
      reason: 'FieldValueInvalid',
      message: 'Invalid value: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      field: 'spec.resourceAttributes',
    });
  }
  if (causes.length > 0) throw invalid(group, kind, '', causes);
}

function subjectCauses(spec: Spec): StatusCause[] {
  if ((spec.user ?? '') !== '' || (spec.groups ?? []).length > 0) return [];
  return [
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: at least one of user or group must be specified',
      field: 'spec.user',
    },
  ];
}

function subject({ user = '', groups = [], uid, extra = {} }: Spec): UserInfo {
  return { name: user, groups, ...(uid === undefined ? {} : { uid }), extra };
}

async function ask(
  authorizer: Authorizer,
  context: RequestContext,
  user: UserInfo,
  spec: Spec,
): Promise<SubjectAccessReviewStatus> {
  const decision = await authorizer.authorize(attributes(user, spec), () => context.signal);
  return {
    allowed: decision.effect === 'allow',
    ...(decision.effect === 'deny' ? { denied: true } : {}),
    ...(decision.reason === '' ? {} : { reason: decision.reason }),
  };
}

function attributes(user: UserInfo, spec: Spec): Attributes {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const { verb = '', path = '' } = nonResourceAttributes ?? {};
  const about = resourceAttributes ?? {};
  return {
    user,
    isResource: resourceAttributes !== undefined,
    verb: about.verb ?? verb,
    path,
    group: about.group ?? '',
    version: about.version ?? '',
    namespace: about.namespace ?? '',
    resource: about.resource ?? '',
    subresource: about.subresource ?? '',
    name: about.name ?? '',
  };
}
