/** The cluster's admission policies, followed. */
import type { Logger } from 'pino';
import type { AdmissionPlugin } from '../../apiserver/admission/interface.js';
import { bindPolicies, type BoundPolicy } from '../../apiserver/policy/bound-policy.js';
import { ThreadEvaluator } from '../../apiserver/policy/evaluator.js';
import { mutatingPolicies, type MutatingPolicyDependencies } from '../../apiserver/policy/mutating.js';
import type {
  AdmissionPolicy,
  CommonSpec,
  MutatingPolicySpec,
  PolicyBinding,
  PolicySpec,
} from '../../apiserver/policy/types.js';
import { validatingPolicies } from '../../apiserver/policy/validating.js';
import type { MatchDependencies } from '../../apiserver/webhook-admission/matching.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { ClusterParams } from './cluster-params.js';
import { RegistrationInformer } from './registration-informer.js';

export interface ClusterPoliciesOptions extends Pick<
  MutatingPolicyDependencies,
  'versionsOf' | 'namespaceLabels' | 'namespace' | 'scalePaths' | 'authorizer' | 'fields'
> {
  readonly client: HttpClient;
  readonly logger: Logger;
}

export class ClusterPolicies {
  /** Before the cluster's mutating webhooks. */
  readonly mutating: AdmissionPlugin;
  /** Before its validating webhooks. */
  readonly validating: AdmissionPlugin;
  readonly #followed: readonly FollowedPolicies<CommonSpec>[];
  readonly #params: ClusterParams;
  readonly #evaluator = new ThreadEvaluator();

  constructor({ client, logger, ...served }: ClusterPoliciesOptions) {
    this.#params = new ClusterParams(client, logger);
    const changed = (): void => {
      this.#params.keep(
        this.#followed.flatMap((each) => each.policies()).flatMap(({ spec }) => spec?.paramKind ?? []),
      );
    };
    const options = { client, logger, served, changed };
    const mutating = new FollowedPolicies<MutatingPolicySpec>('MutatingAdmissionPolicy', options);
    const validating = new FollowedPolicies<PolicySpec>('ValidatingAdmissionPolicy', options);
    this.#followed = [mutating, validating];
    const dependencies = { ...served, evaluator: this.#evaluator, params: this.#params, logger };
    this.mutating = mutatingPolicies(() => mutating.bound(), dependencies);
    this.validating = validatingPolicies(() => validating.bound(), dependencies);
  }

  /** Resolves once all policies are known: a server that knows only some would let in what the others refuse. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#followed.map((each) => each.start(signal)));
  }

  async stopped(): Promise<void> {
    await Promise.all(this.#followed.map((each) => each.stopped()));
    await Promise.all([this.#params.close(), this.#evaluator.close()]);
  }
}

interface FollowedOptions {
  readonly client: HttpClient;
  readonly logger: Logger;
  readonly served: MatchDependencies;
  /** The params that are asked for may be others. */
  changed(): void;
}

/** The policies of one kind and their bindings, bound anew after each change. */
class FollowedPolicies<Spec extends CommonSpec> {
  readonly #policies: RegistrationInformer<AdmissionPolicy<Spec>>;
  readonly #bindings: RegistrationInformer<PolicyBinding>;
  #bound: readonly BoundPolicy<Spec>[] | undefined;

  constructor(
    kind: 'MutatingAdmissionPolicy' | 'ValidatingAdmissionPolicy',
    private readonly options: FollowedOptions,
  ) {
    const plural = kind.toLowerCase().replace(/y$/, 'ies');
    const forget = (): void => {
      this.#bound = undefined;
    };
    const following = { client: options.client, logger: options.logger, changed: forget };
    this.#policies = new RegistrationInformer({ ...following, kind, resource: plural });
    this.#bindings = new RegistrationInformer({
      ...following,
      kind: `${kind}Binding`,
      resource: `${kind.toLowerCase()}bindings`,
    });
  }

  policies(): readonly AdmissionPolicy<Spec>[] {
    return this.#policies.list();
  }

  bound(): readonly BoundPolicy<Spec>[] {
    if (this.#bound === undefined) {
      this.#bound = bindPolicies(this.#policies.list(), this.#bindings.list(), this.options.served);
      this.options.changed();
    }
    return this.#bound;
  }

  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#policies.start(signal), this.#bindings.start(signal)]);
  }

  async stopped(): Promise<void> {
    await Promise.all([this.#policies.stopped(), this.#bindings.stopped()]);
  }
}
