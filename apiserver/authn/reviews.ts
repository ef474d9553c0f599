/** authentication.k8s.io: who am I, and whose is this token? */
import type {
  SelfSubjectReview,
  TokenReview,
  UserInfo as ReviewedUser,
} from '../../openapi/generated/types/authentication_v1.js';
import type { VirtualResource } from '../discovery/virtual-resource.js';
import { ApiError, badRequest } from '../errors/api-error.js';
import type { UserInfo } from '../request.js';
import type { TokenVerifier } from './bearer-token.js';

const group = 'authentication.k8s.io';
const version = 'v1';

export const selfSubjectReviews: VirtualResource<SelfSubjectReview> = {
  group,
  version,
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  singular: 'selfsubjectreview',
  namespaced: false,
  definition: 'io.k8s.api.authentication.v1.SelfSubjectReview',
  create: (context, review) =>
    Promise.resolve({ ...review, status: { userInfo: reviewedUser(context.user) } }),
};

export function tokenReviews(verifiers: readonly TokenVerifier[]): VirtualResource<TokenReview> {
  return {
    group,
    version,
    kind: 'TokenReview',
    plural: 'tokenreviews',
    singular: 'tokenreview',
    namespaced: false,
    definition: 'io.k8s.api.authentication.v1.TokenReview',
    async create(context, review) {
      const { token } = review.spec;
      if (token === '') throw badRequest('spec.token: the token to review is required');
      const user = await verify(verifiers, token, () => context.signal);
      const status =
        user === undefined
          ? { authenticated: false, error: 'the token is not known' }
          : { authenticated: true, user: reviewedUser(user) };
      // The answer does not repeat the token.
      return { ...review, spec: { ...review.spec, token: '' }, status };
    },
  };
}

async function verify(
  verifiers: readonly TokenVerifier[],
  token: string,
  signal: () => AbortSignal,
): Promise<UserInfo | undefined> {
  for (const verifier of verifiers) {
    try {
      const found = await verifier.verify(token, signal);
      if (found !== undefined) return found.user;
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'Unauthorized') throw error;
    }
  }
  return undefined;
}

function reviewedUser({ name, uid, groups, extra }: UserInfo): ReviewedUser {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}
