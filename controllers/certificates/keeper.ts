/** Keeps the certificates of an authority in Secrets: makes them, and makes them anew in time. */
import { rotate } from '../../apiserver/pki/rotation.js';
import { authoritiesConfigMap, certificateKeys, certificateSecrets } from '../../openapi/certificates.js';
import type { ConfigMap, Secret } from '../../openapi/generated/types/core_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult } from '../runtime/controller.js';
import { isNotFound } from '../runtime/errors.js';
import type { Informer } from '../runtime/informer.js';
import { configMaps, secrets } from '../runtime/kinds.js';
import type { Authority } from './authorities.js';
import { authoritySecret, hasContent, leafSecret, readCertificates, type SecretContent } from './secrets.js';

export class CertificateKeeper {
  readonly controller: Controller;
  readonly #authorities: ReadonlyMap<string, Authority>;
  /** One a Secret: whoever may read these may read no others. */
  readonly #secrets: ReadonlyMap<string, Informer<Secret>>;
  readonly #bundle: Informer<ConfigMap>;

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly namespace: string,
    authorities: readonly Authority[],
  ) {
    const only = (name: string) => ({ namespace, fieldSelector: `metadata.name=${name}` });
    this.#authorities = new Map(authorities.map((authority) => [authority.secret, authority]));
    this.#bundle = deps.informers.get(configMaps, only(authoritiesConfigMap));
    const names = authorities.flatMap(({ secret, leaves }) => [secret, ...Object.keys(leaves)]);
    this.#secrets = new Map(names.map((name) => [name, deps.informers.get(secrets, only(name))]));
    this.controller = new Controller({
      name: 'certificates',
      informers: [this.#bundle, ...this.#secrets.values()],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      workers: 1,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    for (const { secret, leaves } of authorities) {
      for (const name of [secret, ...Object.keys(leaves)]) this.#follow(this.informerOf(name), secret);
      // None of them may be there: nothing tells of that.
      this.controller.enqueue(secret);
    }
    this.#follow(this.#bundle, certificateSecrets.authority);
  }

  informerOf(secret: string): Informer<Secret> {
    const informer = this.#secrets.get(secret);
    if (informer === undefined) throw new RangeError(`${secret} is none of the certificates kept here`);
    return informer;
  }

  #follow(informer: Informer<Secret> | Informer<ConfigMap>, key: string): void {
    const enqueue = (): void => {
      this.controller.enqueue(key);
    };
    informer.addHandler({ add: enqueue, update: enqueue, delete: enqueue });
  }

  /** From the server: an informer that lags behind our own writes would have us make certificates twice. */
  async #read(name: string, signal: AbortSignal): Promise<Secret | undefined> {
    return unlessMissing(this.deps.client.get(secrets, { namespace: this.namespace, name }, signal));
  }

  /** The authority is written first, and its Secret's version guards it: of two who renew it at once, one starts over. */
  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const authority = this.#authorities.get(key);
    if (authority === undefined) return undefined;
    const holder = await this.#read(key, signal);
    const holders = new Map<string, Secret | undefined>();
    for (const name of Object.keys(authority.leaves)) holders.set(name, await this.#read(name, signal));
    const now = this.deps.clock.now();
    const before = readCertificates(holder, holders);
    const after = rotate(before, authority.leaves, authority.policy, now);
    await this.#write(
      key,
      holder,
      authoritySecret(after.authority, after.bundle, after.bundleChangedAt),
      signal,
    );
    if (key === certificateSecrets.authority) await this.#writeBundle(after.bundle, signal);
    for (const [name, pair] of Object.entries(after.leaves))
      await this.#write(name, holders.get(name), leafSecret(pair, after.bundle), signal);
    return { requeueAfter: Math.max(0, after.nextAt - now) };
  }

  async #write(
    name: string,
    current: Secret | undefined,
    content: SecretContent,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, logger } = this.deps;
    if (current !== undefined && hasContent(current, content)) return;
    const { data, annotations } = content;
    if (current === undefined) {
      await client.create(
        secrets,
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { namespace: this.namespace, name, annotations: { ...annotations } },
          type: 'kubernetes.io/tls',
          data: { ...data },
        },
        signal,
      );
    } else {
      const { resourceVersion, uid } = current.metadata;
      const body = { metadata: { resourceVersion, uid, annotations }, data };
      await client.patch(secrets, current.metadata, { type: 'merge', body }, undefined, signal);
    }
    logger.info({ secret: name }, 'certificates were renewed');
  }

  async #writeBundle(bundle: string, signal: AbortSignal): Promise<void> {
    const key = { namespace: this.namespace, name: authoritiesConfigMap };
    const current = await unlessMissing(this.deps.client.get(configMaps, key, signal));
    const data = { [certificateKeys.authorities]: bundle };
    if (current === undefined) {
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data };
      await this.deps.client.create(configMaps, map, signal);
    } else if (current.data?.[certificateKeys.authorities] !== bundle) {
      const { resourceVersion, uid } = current.metadata;
      const body = { metadata: { resourceVersion, uid }, data };
      await this.deps.client.patch(configMaps, key, { type: 'merge', body }, undefined, signal);
    }
  }
}

async function unlessMissing<T>(object: Promise<T>): Promise<T | undefined> {
  try {
    return await object;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
