/** In a cluster kube-apiserver has the core kinds, knows the users and decides what they may. */
import type { Logger } from 'pino';
import type { ObjectFields } from '../../apiserver/apply/interface.js';
import type { TokenVerifier } from '../../apiserver/authn/bearer-token.js';
import { allowMasters, allowPaths } from '../../apiserver/authz/always-allow.js';
import { AuthorizerUnion, type Authorizer } from '../../apiserver/authz/authorizer.js';
import { SubjectAccessReviewAuthorizer } from '../../apiserver/delegation/subject-access-review.js';
import { TokenReviewVerifier } from '../../apiserver/delegation/token-review.js';
import { healthPaths } from '../../apiserver/server/native-api.js';
import type { Kind } from '../../controllers/runtime/client.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import { namespaces } from '../../controllers/runtime/kinds.js';
import { sharedSignal } from '../../controllers/runtime/signals.js';
import type { TokenReview } from '../../openapi/generated/types/authentication_v1.js';
import type { SubjectAccessReview } from '../../openapi/generated/types/authorization_v1.js';
import { ClusterAuthentication } from './cluster-authentication.js';
import {
  clusterLauncherPods,
  clusterLookups,
  clusterNamespace,
  clusterNamespaces,
  clusterNodeAddress,
} from './cluster-lookups.js';
import { ClusterPolicies } from './cluster-policies.js';
import { ClusterQuota } from './cluster-quota.js';
import { ClusterWebhooks } from './cluster-webhooks.js';
import type { BuildSurroundings } from './surroundings.js';

export interface ClusterSurroundingsOptions {
  /** Of the cluster's API server, as the user that this server is there. */
  readonly client: HttpClient;
  /** How long answers of the cluster count. Milliseconds. */
  readonly tokenTtl: number;
  readonly allowedTtl: number;
  readonly refusedTtl: number;
  readonly logger: Logger;
}

const tokenReviews: Kind<TokenReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  resource: 'tokenreviews',
  namespaced: false,
};
const subjectAccessReviews: Kind<SubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  resource: 'subjectaccessreviews',
  namespaced: false,
};

/** What is read of the cluster before anything is served. */
type Read = 'authentication' | 'namespaces' | 'policies' | 'quotas' | 'webhooks';

export function clusterSurroundings(options: ClusterSurroundingsOptions): BuildSurroundings {
  const { client, logger } = options;
  const authentication = new ClusterAuthentication(client, logger);
  const known = new SharedInformer({ client, kind: namespaces, logger });
  const quota = new ClusterQuota(client, logger);
  const authorizer = delegatedAuthorizer(options);
  let following: Promise<void> | undefined;
  const unread = new Set<Read>(['authentication', 'namespaces', 'policies', 'quotas', 'webhooks']);
  const reading = async (what: Read, read: Promise<void>): Promise<void> => {
    await read;
    unread.delete(what);
  };
  return (registry) => {
    const namespace = clusterNamespace(client, known);
    const rules = {
      client,
      logger,
      versionsOf: (group: string, resource: string) =>
        registry()
          .endpoint(group, resource)
          ?.resource.versions.map(({ name }) => name) ?? [],
      scalePaths: (group: string, resource: string) => registry().endpoint(group, resource)?.resource.scale,
      namespaceLabels: async (name: string) => (await namespace(name)).metadata.labels,
    };
    const webhooks = new ClusterWebhooks(rules);
    const fields = (group: string, resource: string): ObjectFields | undefined =>
      registry().endpoint(group, resource)?.fields;
    const policies = new ClusterPolicies({ ...rules, namespace, authorizer, fields });
    return {
      resources: [],
      virtualResources: [],
      subresources: () => [],
      authorizer,
      authenticators: [authentication.requestHeader],
      tokenVerifiers: [delegatedTokens(options)],
      admission: [policies.mutating, policies.validating, ...webhooks.plugins, quota.plugin],
      namespaces: clusterNamespaces(client, known),
      elsewhere: clusterLookups(client),
      launcherPods: clusterLauncherPods(client),
      nodeAddress: clusterNodeAddress(client),
      readinessChecks: [
        {
          name: 'request-header-ca',
          check: () => {
            authentication.check();
          },
        },
        {
          name: 'informer-sync',
          check: () => {
            if (unread.size > 0) throw new Error(`not read yet: ${[...unread].join(', ')}`);
          },
        },
      ],
      clientAuthorities: () => authentication.authorities,
      async start(signal, changed) {
        const shared = sharedSignal(signal);
        following = known.run(shared);
        await Promise.all([
          reading('authentication', authentication.start(shared, changed)),
          reading('namespaces', known.synced(shared)),
          reading('webhooks', webhooks.start(shared)),
          reading('policies', policies.start(shared)),
          reading('quotas', quota.start(shared)),
        ]);
      },
      async stopped() {
        await Promise.all([
          authentication.stopped(),
          following,
          webhooks.stopped(),
          policies.stopped(),
          quota.stopped(),
        ]);
      },
    };
  };
}

function delegatedAuthorizer({ client, allowedTtl, refusedTtl }: ClusterSurroundingsOptions): Authorizer {
  const reviews = new SubjectAccessReviewAuthorizer({
    reviewer: (review, signal) => client.create(subjectAccessReviews, review, signal),
    allowedTtl,
    refusedTtl,
    now: Date.now,
  });
  return new AuthorizerUnion([allowPaths(healthPaths), allowMasters, reviews]);
}

function delegatedTokens({ client, tokenTtl }: ClusterSurroundingsOptions): TokenVerifier {
  return new TokenReviewVerifier({
    reviewer: (review, signal) => client.create(tokenReviews, review, signal),
    ttl: tokenTtl,
    now: Date.now,
  });
}
