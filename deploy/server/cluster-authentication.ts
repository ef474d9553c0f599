/** Follows the config map in which kube-apiserver says who issues client certificates, and whose headers to believe. */
import type { Logger } from 'pino';
import { RequestHeaderAuthenticator } from '../../apiserver/authn/request-header.js';
import {
  authenticationConfigMap,
  parseAuthenticationConfig,
} from '../../apiserver/delegation/authentication-config.js';
import type { Client } from '../../controllers/runtime/client.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import { configMaps } from '../../controllers/runtime/kinds.js';
import type { ConfigMap } from '../../openapi/generated/types/core_v1.js';
import type { ClientAuthorities } from './surroundings.js';

export class ClusterAuthentication {
  readonly requestHeader = new RequestHeaderAuthenticator();
  readonly #informer: SharedInformer<ConfigMap>;
  #authorities: ClientAuthorities = { clientCa: '', requestHeaderCa: '' };
  #running: Promise<void> | undefined;

  constructor(
    client: Client,
    private readonly logger: Logger,
  ) {
    const { namespace, name } = authenticationConfigMap;
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    this.#informer = new SharedInformer({ client, kind: configMaps, scope, logger });
  }

  get authorities(): ClientAuthorities {
    return this.#authorities;
  }

  /** Resolves once the map says whose headers to believe. */
  async start(signal: AbortSignal, changed: () => void): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const take = (map: ConfigMap): void => {
        if (!this.#take(map)) return;
        changed();
        if (this.requestHeader.isConfigured) resolve();
      };
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#informer.addHandler({ add: take, update: (_before, after) => take(after) });
      this.#running = this.#informer.run(signal);
    });
  }

  async stopped(): Promise<void> {
    await this.#running;
  }

  /** For readiness: a server that believes no proxy would turn every user into a stranger. */
  check(): void {
    if (this.requestHeader.isConfigured) return;
    const { namespace, name } = authenticationConfigMap;
    throw new Error(`config map ${namespace}/${name} names no authority of front proxies`);
  }

  /** A map that can not be read is told, and what was known before goes on. */
  #take(map: ConfigMap): boolean {
    try {
      const { clientCa = '', requestHeader } = parseAuthenticationConfig(map.data ?? {});
      if (requestHeader !== undefined) this.requestHeader.configure(requestHeader);
      this.#authorities = {
        clientCa,
        requestHeaderCa: requestHeader?.clientCa ?? this.#authorities.requestHeaderCa,
      };
      return true;
    } catch (error) {
      this.logger.error({ err: error }, "the cluster's authentication configuration can not be used");
      return false;
    }
  }
}
