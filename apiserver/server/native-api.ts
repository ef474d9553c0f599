/** Puts together what this server serves: stored kinds, reviews, and KubeVirt's subresources. */
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import type { TokenVerifier } from '../authn/bearer-token.js';
import { selfSubjectReviews, tokenReviews } from '../authn/reviews.js';
import { allowMasters, allowPaths } from '../authz/always-allow.js';
import { AuthorizerUnion, type Authorizer } from '../authz/authorizer.js';
import type { RbacPolicy } from '../authz/rbac/policy.js';
import { RbacAuthorizer } from '../authz/rbac/rbac-authorizer.js';
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
} from '../authz/reviews.js';
import type { BuildInfo } from '../discovery/version.js';
import type { VirtualResource } from '../discovery/virtual-resource.js';
import type { Registry } from '../registry/registry.js';
import { evacuateCancelSubresources } from '../subresources/evacuate-cancel.js';
import { expandSubresources } from '../subresources/expand.js';
import { guestActionSubresources } from '../subresources/guest-actions.js';
import { guestReadSubresources } from '../subresources/guest-reads.js';
import { lifecycleSubresources } from '../subresources/lifecycle.js';
import type { LauncherPods } from '../subresources/launcher-pods.js';
import { objectGraphSubresources } from '../subresources/object-graph.js';
import type { NodeAgentDialer } from '../subresources/node-agent-dialer.js';
import { serverInfoSubresources } from '../subresources/server-info.js';
import { streamSubresources } from '../subresources/streams.js';
import { volumeSubresources } from '../subresources/volumes.js';
import type { Api } from './config.js';

/** What everybody may read without any rule: probes have no credentials. */
export const healthPaths = ['/healthz', '/healthz/*', '/livez', '/livez/*', '/readyz', '/readyz/*'];

/** Decides by the policy of this server's own roles and bindings. */
export function rbacAuthorizer(policy: RbacPolicy): Authorizer {
  return new AuthorizerUnion([allowPaths(healthPaths), allowMasters, new RbacAuthorizer(policy)]);
}

/** The reviews of a server that knows users and rules itself: standalone. In a cluster, kube-apiserver has them. */
export function reviewResources(
  authorizer: Authorizer,
  policy: RbacPolicy,
  verifiers: readonly TokenVerifier[],
): readonly VirtualResource[] {
  return [
    selfSubjectAccessReviews(authorizer),
    subjectAccessReviews(authorizer),
    localSubjectAccessReviews(authorizer),
    selfSubjectRulesReviews(policy),
    selfSubjectReviews,
    tokenReviews(verifiers),
  ];
}

export interface NativeApiOptions {
  readonly registry: Registry;
  readonly definitions: Definitions;
  readonly configuration: () => KubeVirtConfiguration;
  readonly virtualResources: readonly VirtualResource[];
  readonly launcherPods: LauncherPods;
  readonly dialer: NodeAgentDialer;
  readonly build: BuildInfo;
}

export function nativeApi(options: NativeApiOptions): Api {
  const { registry, definitions, configuration, virtualResources, launcherPods, dialer, build } = options;
  return {
    definitions,
    resources: registry.resources,
    handle: (context) => registry.handle(context),
    virtualResources,
    subresources: [
      ...lifecycleSubresources({ registry, definitions, launcherPods }),
      ...volumeSubresources({ registry, definitions, configuration }),
      ...evacuateCancelSubresources({ registry, definitions, configuration }),
      ...expandSubresources({ registry, definitions, configuration }),
      ...streamSubresources({ registry, dialer }),
      ...guestActionSubresources({ registry, definitions, dialer }),
      ...guestReadSubresources({ registry, dialer }),
      ...objectGraphSubresources({ registry, definitions }),
      ...serverInfoSubresources({ registry, build }),
    ],
  };
}
