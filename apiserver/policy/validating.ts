/** The cluster's ValidatingAdmissionPolicies, for writes that kube-apiserver hands on without asking them. */
import type { AdmissionContext, AdmissionPlugin } from '../admission/interface.js';
import type { BoundPolicy } from './bound-policy.js';
import { failed, type PolicyOutcome } from './evaluation.js';
import { keyOf, PolicyView, textOf, type PolicyDependencies, type PolicyInvocation } from './policy-view.js';
import { denied, type PolicyDenial } from './refusals.js';
import type { PolicyBinding, PolicySpec } from './types.js';

export function validatingPolicies(
  policies: () => readonly BoundPolicy<PolicySpec>[],
  dependencies: PolicyDependencies,
): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (request) => policies().some(({ matcher }) => matcher.version(request) !== undefined),
    async validateLate(request, context) {
      const denials: PolicyDenial[] = [];
      const view = new PolicyView(request, context, dependencies);
      for (const policy of policies())
        denials.push(...(await new Review(policy, view, context, dependencies).denials()));
      const [first] = denials;
      if (first !== undefined) throw denied(request, first);
    },
  };
}

const maximumAnnotation = 10 * 1024;

/** One policy over one write. */
class Review {
  readonly #annotations = new Map<string, Set<string>>();

  constructor(
    private readonly policy: BoundPolicy<PolicySpec>,
    private readonly view: PolicyView,
    private readonly context: AdmissionContext,
    private readonly dependencies: PolicyDependencies,
  ) {}

  async denials(): Promise<readonly PolicyDenial[]> {
    const denials: PolicyDenial[] = [];
    for (const each of await this.view.invocations(this.policy)) {
      if ('message' in each) denials.push(...this.#unusable(each.message, each.binding?.object));
      else denials.push(...this.#enforce(await this.#evaluate(each), each.binding.object));
    }
    for (const [key, values] of this.#annotations)
      this.context.annotate?.(`${this.#name}/${key}`, [...values].join(', '));
    return denials;
  }

  get #name(): string {
    return this.policy.object.metadata.name;
  }

  async #evaluate(invocation: PolicyInvocation): Promise<PolicyOutcome> {
    const { object } = this.policy;
    const { spec = {} } = object;
    try {
      const inputs = await this.view.inputs(invocation);
      return await this.dependencies.evaluator.validate({ key: keyOf(object), spec, inputs }, this.view.ask);
    } catch (error) {
      this.dependencies.logger.warn({ err: error, policy: this.#name }, 'a policy can not be evaluated');
      return failed(spec, textOf(error));
    }
  }

  #enforce(outcome: PolicyOutcome, binding: PolicyBinding): readonly PolicyDenial[] {
    const { name } = binding.metadata;
    const { validationActions = ['Deny'] } = binding.spec ?? {};
    for (const { key, value } of outcome.annotations) this.#annotate(key, value.slice(0, maximumAnnotation));
    for (const { message, index } of outcome.denials) {
      if (validationActions.includes('Warn'))
        this.context.warn(
          `Validation failed for ValidatingAdmissionPolicy '${this.#name}' with binding '${name}': ${message}`,
        );
      if (validationActions.includes('Audit')) this.#auditFailure(message, index, name, validationActions);
    }
    const denial = (message: string, reason?: string): PolicyDenial => ({
      policy: this.#name,
      binding: name,
      message,
      reason,
    });
    return [
      ...(validationActions.includes('Deny')
        ? outcome.denials.map(({ message, reason }) => denial(message, reason))
        : []),
      ...outcome.annotationErrors.map((message) => denial(message)),
    ];
  }

  #annotate(key: string, value: string): void {
    const values = this.#annotations.get(key) ?? new Set();
    this.#annotations.set(key, values.add(value));
  }

  #auditFailure(
    message: string,
    index: number | undefined,
    binding: string,
    validationActions: readonly string[],
  ): void {
    const failure = { message, policy: this.#name, binding, expressionIndex: index ?? 0, validationActions };
    this.context.annotate?.(
      'validation.policy.admission.k8s.io/validation_failure',
      JSON.stringify([failure]),
    );
  }

  #unusable(message: string, binding: PolicyBinding | undefined): readonly PolicyDenial[] {
    const { denials } = failed(this.policy.object.spec ?? {}, message);
    return denials.map(() => ({
      policy: this.#name,
      binding: binding?.metadata.name,
      message,
      reason: undefined,
    }));
  }
}
