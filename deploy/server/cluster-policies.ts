/** The cluster's admission policies, followed. */
import type { Logger } from 'pino';
import type { AdmissionPlugin } from '../../apiserver/admission/interface.js';
import { ThreadEvaluator } from '../../apiserver/policy/evaluator.js';
import {
  bindPolicies,
  validatingPolicies,
  type BoundPolicy,
  type PolicyDependencies,
} from '../../apiserver/policy/plugin.js';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../apiserver/policy/types.js';
import type { Kind } from '../../controllers/runtime/client.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { ClusterParams } from './cluster-params.js';

export interface ClusterPoliciesOptions extends Pick<
  PolicyDependencies,
  'versionsOf' | 'namespaceLabels' | 'namespace' | 'scalePaths' | 'authorizer'
> {
  readonly client: HttpClient;
  readonly logger: Logger;
}

function kindOf<T extends KubernetesObject>(kind: string, resource: string): Kind<T> {
  return { group: 'admissionregistration.k8s.io', version: 'v1', kind, resource, namespaced: false };
}

export class ClusterPolicies {
  readonly plugin: AdmissionPlugin;
  readonly #policies: SharedInformer<ValidatingAdmissionPolicy>;
  readonly #bindings: SharedInformer<ValidatingAdmissionPolicyBinding>;
  readonly #params: ClusterParams;
  readonly #evaluator = new ThreadEvaluator();
  #bound: readonly BoundPolicy[] | undefined;
  #running: readonly Promise<void>[] = [];

  constructor({ client, logger, ...served }: ClusterPoliciesOptions) {
    this.#policies = new SharedInformer({
      client,
      kind: kindOf<ValidatingAdmissionPolicy>('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
      logger,
    });
    this.#bindings = new SharedInformer({
      client,
      kind: kindOf<ValidatingAdmissionPolicyBinding>(
        'ValidatingAdmissionPolicyBinding',
        'validatingadmissionpolicybindings',
      ),
      logger,
    });
    this.#params = new ClusterParams(client, logger);
    const forget = (): void => {
      this.#bound = undefined;
    };
    for (const informer of [this.#policies, this.#bindings])
      informer.addHandler({ add: forget, update: forget, delete: forget });
    const policies = (): readonly BoundPolicy[] => (this.#bound ??= this.#bind(served));
    this.plugin = validatingPolicies(policies, {
      ...served,
      evaluator: this.#evaluator,
      params: this.#params,
      logger,
    });
  }

  #bind(served: Pick<PolicyDependencies, 'versionsOf' | 'namespaceLabels'>): readonly BoundPolicy[] {
    const policies = this.#policies.list();
    this.#params.keep(policies.flatMap(({ spec }) => spec?.paramKind ?? []));
    return bindPolicies(policies, this.#bindings.list(), served);
  }

  /** Resolves once all policies are known: a server that knows only some would let in what the others refuse. */
  async start(signal: AbortSignal): Promise<void> {
    this.#running = [this.#policies.run(signal), this.#bindings.run(signal)];
    await Promise.all([this.#policies.synced(signal), this.#bindings.synced(signal)]);
  }

  async stopped(): Promise<void> {
    await Promise.all(this.#running);
    await Promise.all([this.#params.close(), this.#evaluator.close()]);
  }
}
