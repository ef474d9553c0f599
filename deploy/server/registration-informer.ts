/** Follows one kind of admissionregistration.k8s.io in the newest version that the cluster serves, if it serves any. */
import type { Logger } from 'pino';
import { Backoff } from '../../controllers/runtime/backoff.js';
import type { Kind } from '../../controllers/runtime/client.js';
import { sleep, systemClock } from '../../controllers/runtime/clock.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import type { KubernetesObject } from '../../openapi/meta.js';

export interface RegistrationInformerOptions {
  readonly client: HttpClient;
  readonly logger: Logger;
  readonly kind: string;
  readonly resource: string;
  /** Something came, went or changed. */
  readonly changed: () => void;
}

const group = 'admissionregistration.k8s.io';
/** In which the kinds read the same. */
const versions = ['v1', 'v1beta1'];
/** A cluster that does not serve the kind may be upgraded to one that does. Milliseconds. */
const lookAgain = 60_000;

export class RegistrationInformer<T extends KubernetesObject> {
  #informer: SharedInformer<T> | undefined;
  #running: Promise<void> | undefined;

  constructor(private readonly options: RegistrationInformerOptions) {}

  list(): readonly T[] {
    return this.#informer?.list() ?? [];
  }

  /** Resolves once all objects are known, or that the cluster does not serve the kind. */
  async start(signal: AbortSignal): Promise<void> {
    const informer = await this.#find(signal);
    this.#running = informer?.run(signal) ?? this.#wait(signal);
    await informer?.synced(signal);
  }

  async stopped(): Promise<void> {
    await this.#running;
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { logger, resource } = this.options;
    logger.info({ resource }, 'the cluster does not serve these; it is looked for them every minute');
    try {
      for (;;) {
        await sleep(systemClock, lookAgain, signal);
        const informer = await this.#find(signal);
        if (informer === undefined) continue;
        await informer.run(signal);
        return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Tries until the cluster answers. */
  async #find(signal: AbortSignal): Promise<SharedInformer<T> | undefined> {
    const backoff = new Backoff({ minimum: 500, maximum: 10_000, random: Math.random });
    for (;;) {
      try {
        const version = await this.#servedVersion(signal);
        return version === undefined ? undefined : this.#follow(version);
      } catch (error) {
        signal.throwIfAborted();
        const { logger, resource } = this.options;
        logger.warn({ err: error, resource }, 'the cluster does not say whether it serves these');
        await sleep(systemClock, backoff.next(), signal);
      }
    }
  }

  async #servedVersion(signal: AbortSignal): Promise<string | undefined> {
    for (const version of versions) {
      try {
        // The shape of every APIResourceList.
        const { resources = [] } = (await this.options.client.raw(`/apis/${group}/${version}`, signal)) as {
          readonly resources?: readonly { readonly name: string }[];
        };
        if (resources.some(({ name }) => name === this.options.resource)) return version;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    return undefined;
  }

  #follow(version: string): SharedInformer<T> {
    const { client, logger, kind: name, resource, changed } = this.options;
    const kind: Kind<T> = { group, version, kind: name, resource, namespaced: false };
    const informer = new SharedInformer({ client, kind, logger });
    informer.addHandler({ add: changed, update: changed, delete: changed });
    this.#informer = informer;
    return informer;
  }
}
