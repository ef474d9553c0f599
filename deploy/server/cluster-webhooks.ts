/** The cluster's admission webhooks, for writes that kube-apiserver hands on without asking them. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { AdmissionPlugin } from '../../apiserver/admission/interface.js';
import {
  compileWebhooks,
  type Webhook,
  type WebhookConfiguration,
} from '../../apiserver/webhook-admission/configuration.js';
import { HttpsWebhookCaller } from '../../apiserver/webhook-admission/https-caller.js';
import type { WebhookDependencies } from '../../apiserver/webhook-admission/invocation.js';
import { mutatingWebhooks } from '../../apiserver/webhook-admission/mutating.js';
import { validatingWebhooks } from '../../apiserver/webhook-admission/validating.js';
import type { Client, Kind } from '../../controllers/runtime/client.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';

export interface ClusterWebhooksOptions extends Pick<
  WebhookDependencies,
  'versionsOf' | 'namespaceLabels' | 'scalePaths'
> {
  readonly client: Client;
  readonly logger: Logger;
}

function kind(type: 'Mutating' | 'Validating'): Kind<WebhookConfiguration> {
  const name = `${type}WebhookConfiguration`;
  return {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: name,
    resource: `${name.toLowerCase()}s`,
    namespaced: false,
  };
}

export class ClusterWebhooks {
  /** In the order in which they run. */
  readonly plugins: readonly AdmissionPlugin[];
  readonly #mutating: FollowedWebhooks;
  readonly #validating: FollowedWebhooks;
  readonly #caller: HttpsWebhookCaller;

  constructor({ client, logger, ...served }: ClusterWebhooksOptions) {
    this.#caller = new HttpsWebhookCaller({ userAgent: 'nativirt-apiserver' });
    this.#mutating = new FollowedWebhooks(client, kind('Mutating'), logger);
    this.#validating = new FollowedWebhooks(client, kind('Validating'), logger);
    const dependencies: WebhookDependencies = {
      caller: this.#caller,
      uuid: randomUUID,
      ...served,
      logger,
    };
    this.plugins = [
      mutatingWebhooks(() => this.#mutating.list(), dependencies),
      validatingWebhooks(() => this.#validating.list(), dependencies),
    ];
  }

  /** Resolves once all webhooks are known: a server that knows only some would let in what the others refuse. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#mutating.start(signal), this.#validating.start(signal)]);
  }

  async stopped(): Promise<void> {
    await Promise.all([this.#mutating.stopped(), this.#validating.stopped()]);
    this.#caller.close();
  }
}

/** The webhooks of one kind of configuration, compiled anew after each change. */
class FollowedWebhooks {
  readonly #informer: SharedInformer<WebhookConfiguration>;
  #compiled: readonly Webhook[] | undefined;
  #running: Promise<void> | undefined;

  constructor(client: Client, of: Kind<WebhookConfiguration>, logger: Logger) {
    this.#informer = new SharedInformer({ client, kind: of, logger });
    const forget = (): void => {
      this.#compiled = undefined;
    };
    this.#informer.addHandler({ add: forget, update: forget, delete: forget });
  }

  list(): readonly Webhook[] {
    return (this.#compiled ??= compileWebhooks(this.#informer.list()));
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#running = this.#informer.run(signal);
    await this.#informer.synced(signal);
  }

  async stopped(): Promise<void> {
    await this.#running;
  }
}
