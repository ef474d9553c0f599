/** Core kinds, users and RBAC of this server's own: there is no Kubernetes under it. */
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { StaticTokens } from '../../apiserver/authn/bearer-token.js';
import { ServiceAccountTokens } from '../../apiserver/authn/service-account-tokens.js';
import { parseTokenFile } from '../../apiserver/authn/token-file.js';
import { escalationPlugin } from '../../apiserver/authz/rbac/escalation.js';
import { PolicyFeed } from '../../apiserver/authz/rbac/policy-feed.js';
import { coreResources } from '../../apiserver/resources/index.js';
import { rbacAuthorizer, reviewResources } from '../../apiserver/server/native-api.js';
import { evictionSubresource } from '../../apiserver/subresources/eviction.js';
import { registryLauncherPods } from '../../apiserver/subresources/launcher-pods.js';
import { serviceAccountTokenSubresource } from '../../apiserver/subresources/service-account-token.js';
import { registryNodeAddress } from '../../apiserver/subresources/node-agent-dialer.js';
import type { BuildSurroundings } from './surroundings.js';

export interface StandaloneSurroundingsOptions {
  /** PEM bundle; asked again whenever the server takes its certificates anew. */
  readonly clientCa: () => string;
  readonly tokenAuthFile: string | undefined;
  /** Signs the tokens of service accounts. */
  readonly serviceAccountKey: KeyObject;
  readonly logger: Logger;
}

/** Rejects with one clear line if the file of tokens can not be read. */
export async function standaloneSurroundings(
  options: StandaloneSurroundingsOptions,
): Promise<BuildSurroundings> {
  const { clientCa, tokenAuthFile, serviceAccountKey, logger } = options;
  const fileVerifiers =
    tokenAuthFile === undefined
      ? []
      : [new StaticTokens(parseTokenFile(await readFile(tokenAuthFile, 'utf8'), tokenAuthFile))];
  return (registry) => {
    const feed = new PolicyFeed((group, resource) => registry().endpoint(group, resource), logger);
    const authorizer = rbacAuthorizer(feed.policy);
    const tokens = new ServiceAccountTokens({
      key: serviceAccountKey,
      get: (resource, namespace, name) => registry().get({ group: '', resource, namespace, name }),
      now: Date.now,
    });
    const tokenVerifiers = [...fileVerifiers, tokens];
    return {
      resources: coreResources,
      virtualResources: reviewResources(authorizer, feed.policy, tokenVerifiers),
      subresources: (definitions, configuration) => [
        evictionSubresource({ registry: registry(), definitions, configuration, now: Date.now }),
        serviceAccountTokenSubresource({ registry: registry(), definitions, tokens }),
      ],
      authorizer,
      authenticators: [],
      tokenVerifiers,
      admission: [escalationPlugin(feed.policy, authorizer)],
      launcherPods: registryLauncherPods(registry),
      nodeAddress: registryNodeAddress(registry),
      readinessChecks: [{ name: 'rbac', check: () => feed.check() }],
      clientAuthorities: () => ({ clientCa: clientCa(), requestHeaderCa: '' }),
      start(signal) {
        feed.start(signal);
        return Promise.resolve();
      },
      stopped: () => feed.stopped(),
    };
  };
}
