/** Bearer tokens, verified by the cluster's TokenReview. */
import { createHash } from 'node:crypto';
import type { TokenReview } from '../../openapi/generated/types/authentication_v1.js';
import type { Authenticated } from '../authn/authenticator.js';
import { withAuthenticatedGroup } from '../authn/authenticator.js';
import type { TokenVerifier } from '../authn/bearer-token.js';
import { ReviewCache, type Lasting } from './review-cache.js';
import { askReview, type Reviewer } from './reviewer.js';

export interface TokenReviewOptions {
  readonly reviewer: Reviewer<TokenReview>;
  /** How long an answer counts, whichever it was. Milliseconds. */
  readonly ttl: number;
  readonly now: () => number;
}

const cacheSize = 4096;

export class TokenReviewVerifier implements TokenVerifier {
  readonly #cache: ReviewCache<Authenticated | undefined>;

  constructor(private readonly options: TokenReviewOptions) {
    this.#cache = new ReviewCache({ size: cacheSize, now: options.now });
  }

  verify(token: string): Authenticated | undefined | Promise<Authenticated | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    return this.#cache.get(key, () => this.#ask(token));
  }

  async #ask(token: string): Promise<Lasting<Authenticated | undefined>> {
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: { token },
    };
    const { status } = await askReview(this.options.reviewer, review);
    return { value: authenticated(status), ttl: this.options.ttl };
  }
}

function authenticated(status: TokenReview['status']): Authenticated | undefined {
  const user = status?.user;
  if (status?.authenticated !== true || user?.username === undefined || user.username === '')
    return undefined;
  return {
    user: withAuthenticatedGroup({
      name: user.username,
      ...(user.uid === undefined || user.uid === '' ? {} : { uid: user.uid }),
      groups: user.groups ?? [],
      extra: user.extra ?? {},
    }),
  };
}
