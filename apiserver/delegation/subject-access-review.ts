/** Authorization by the cluster's SubjectAccessReview, whatever it decides by. */
import type { SubjectAccessReview } from '../../openapi/generated/types/authorization_v1.js';
import type { Attributes, Authorizer, Decision } from '../authz/authorizer.js';
import { ReviewCache, type Lasting } from './review-cache.js';
import { askReview, type Reviewer } from './reviewer.js';

export interface SubjectAccessReviewOptions {
  readonly reviewer: Reviewer<SubjectAccessReview>;
  /** How long an answer counts. Milliseconds. */
  readonly allowedTtl: number;
  readonly refusedTtl: number;
  readonly now: () => number;
}

const cacheSize = 8192;
/** Longer questions are asked each time: whoever may choose paths and names must not fill the cache with them. */
const maxKeyLength = 10_000;

export class SubjectAccessReviewAuthorizer implements Authorizer {
  readonly #cache: ReviewCache<Decision>;

  constructor(private readonly options: SubjectAccessReviewOptions) {
    this.#cache = new ReviewCache({ size: cacheSize, now: options.now });
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const spec = specOf(attributes);
    const key = JSON.stringify(spec);
    if (key.length > maxKeyLength) return this.#ask(spec).then(({ value }) => value);
    return this.#cache.get(key, () => this.#ask(spec));
  }

  async #ask(spec: SubjectAccessReview['spec']): Promise<Lasting<Decision>> {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec,
    };
    const { status } = await askReview(this.options.reviewer, review);
    const { allowedTtl, refusedTtl } = this.options;
    const reason = status?.reason ?? '';
    if (status?.allowed === true) return { value: { effect: 'allow', reason }, ttl: allowedTtl };
    return { value: { effect: status?.denied === true ? 'deny' : 'none', reason }, ttl: refusedTtl };
  }
}

function specOf(attributes: Attributes): SubjectAccessReview['spec'] {
  const { user, isResource, path, verb } = attributes;
  const extra = Object.entries(user.extra).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    user: user.name,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: [...user.groups],
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
    ...(isResource
      ? { resourceAttributes: resourceAttributes(attributes) }
      : { nonResourceAttributes: { path, verb } }),
  };
}

/** An empty string means the same as a member that is not there, and makes the question longer. */
function resourceAttributes(attributes: Attributes): SubjectAccessReview['spec']['resourceAttributes'] {
  const { verb, group, version, namespace, resource, subresource, name } = attributes;
  const { fieldSelector = '', labelSelector = '' } = attributes;
  const all = { verb, group, version, namespace, resource, subresource, name };
  return {
    ...Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    // kube-apiserver parses them.
    ...(fieldSelector === '' ? {} : { fieldSelector: { rawSelector: fieldSelector } }),
    ...(labelSelector === '' ? {} : { labelSelector: { rawSelector: labelSelector } }),
  };
}
