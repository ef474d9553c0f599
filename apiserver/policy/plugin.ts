/** The cluster's ValidatingAdmissionPolicies, for writes that kube-apiserver hands on without asking them. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Namespace } from '../../openapi/generated/types/core_v1.js';
import type { AdmissionContext, AdmissionPlugin, AdmissionRequest } from '../admission/interface.js';
import { omit } from '../codec/omit.js';
import type { Authorizer } from '../authz/authorizer.js';
import type { ScalePaths } from '../registry/resource.js';
import type { UserInfo } from '../request.js';
import type { MatchDependencies } from '../webhook-admission/matching.js';
import { reviewOf } from '../webhook-admission/review.js';
import { objectView, scaleView } from '../webhook-admission/view.js';
import { failed, type PolicyInputs, type PolicyOutcome } from './evaluation.js';
import type { Question, Verdict } from './authorizer-value.js';
import type { PolicyEvaluator } from './evaluator.js';
import { resourceMatcher, type ResourceMatcher } from './matching.js';
import { denied, type PolicyDenial } from './refusals.js';
import type {
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './types.js';

/** The objects by which a policy is configured. */
export interface ParamSource {
  /** Empty if the reference leads to none. Rejects, saying why, if the kind or the reference can not be used. */
  find(kind: ParamKind, reference: ParamRef, namespace: string | undefined): Promise<readonly object[]>;
}

export interface PolicyDependencies extends MatchDependencies {
  readonly evaluator: PolicyEvaluator;
  readonly params: ParamSource;
  /** What policies may ask. */
  readonly authorizer: Authorizer;
  /** Rejects if it is not there. */
  readonly namespace: (name: string) => Promise<Namespace>;
  /** Undefined if the resource has no scale. */
  readonly scalePaths: (group: string, resource: string) => ScalePaths | undefined;
  readonly logger: Pick<Logger, 'warn'>;
}

interface Binding {
  readonly object: ValidatingAdmissionPolicyBinding;
  /** Undefined: as the policy's. */
  readonly matcher: ResourceMatcher | undefined;
}

/** A policy with what binds it. */
export interface BoundPolicy {
  readonly object: ValidatingAdmissionPolicy;
  readonly matcher: ResourceMatcher;
  readonly bindings: readonly Binding[];
}

/** Those that are bound, by name. */
export function bindPolicies(
  policies: readonly ValidatingAdmissionPolicy[],
  bindings: readonly ValidatingAdmissionPolicyBinding[],
  dependencies: MatchDependencies,
): readonly BoundPolicy[] {
  const byName = <T extends { readonly metadata: { readonly name: string } }>(a: T, b: T): number =>
    a.metadata.name < b.metadata.name ? -1 : 1;
  return [...policies].sort(byName).flatMap((object): BoundPolicy[] => {
    const own = bindings.filter(({ spec }) => spec?.policyName === object.metadata.name).sort(byName);
    if (own.length === 0) return [];
    return [
      {
        object,
        matcher: resourceMatcher(object.spec?.matchConstraints ?? {}, dependencies),
        bindings: own.map((binding) => ({
          object: binding,
          matcher:
            binding.spec?.matchResources === undefined
              ? undefined
              : resourceMatcher(binding.spec.matchResources, dependencies),
        })),
      },
    ];
  });
}

export function validatingPolicies(
  policies: () => readonly BoundPolicy[],
  dependencies: PolicyDependencies,
): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (request) => policies().some(({ matcher }) => matcher.version(request) !== undefined),
    async validateLate(request, context) {
      const denials: PolicyDenial[] = [];
      for (const policy of policies())
        denials.push(...(await new Review(policy, request, context, dependencies).denials()));
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
    private readonly policy: BoundPolicy,
    private readonly request: AdmissionRequest,
    private readonly context: AdmissionContext,
    private readonly dependencies: PolicyDependencies,
  ) {}

  async denials(): Promise<readonly PolicyDenial[]> {
    const version = this.policy.matcher.version(this.request);
    if (version === undefined) return [];
    const denials: PolicyDenial[] = [];
    try {
      if (!(await this.policy.matcher.selects(this.request))) return [];
    } catch (error) {
      return this.#unusable(`failed to configure policy: ${textOf(error)}`, undefined);
    }
    for (const binding of this.policy.bindings) denials.push(...(await this.#bound(binding, version)));
    for (const [key, values] of this.#annotations)
      this.context.annotate?.(`${this.#name}/${key}`, [...values].join(', '));
    return denials;
  }

  get #name(): string {
    return this.policy.object.metadata.name;
  }

  async #bound({ object: binding, matcher }: Binding, version: string): Promise<readonly PolicyDenial[]> {
    const { name } = binding.metadata;
    let params: readonly (object | null)[];
    try {
      const concerned =
        matcher === undefined ||
        (matcher.version(this.request) !== undefined && (await matcher.selects(this.request)));
      if (!concerned) return [];
      params = await this.#params(binding);
    } catch (error) {
      return this.#unusable(`failed to configure binding: ${textOf(error)}`, name);
    }
    const denials: PolicyDenial[] = [];
    for (const each of params) {
      const outcome = await this.#evaluate(version, each);
      denials.push(...this.#enforce(outcome, binding));
    }
    return denials;
  }

  /** One evaluation for each; null where the policy takes none. */
  async #params({ spec = {} }: ValidatingAdmissionPolicyBinding): Promise<readonly (object | null)[]> {
    const { paramKind } = this.policy.object.spec ?? {};
    const { paramRef } = spec;
    if (paramKind === undefined || paramRef === undefined) return [null];
    const found = await this.dependencies.params.find(paramKind, paramRef, this.request.namespace);
    if (found.length === 0 && paramRef.parameterNotFoundAction !== 'Allow')
      throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
    return found;
  }

  async #evaluate(version: string, params: object | null): Promise<PolicyOutcome> {
    const { metadata, spec = {} } = this.policy.object;
    try {
      const inputs = await this.#inputs(version, params);
      const key = `${metadata.uid}/${metadata.resourceVersion}`;
      return await this.dependencies.evaluator.evaluate({ key, spec, inputs }, (question) =>
        this.#ask(question),
      );
    } catch (error) {
      this.dependencies.logger.warn({ err: error, policy: metadata.name }, 'a policy can not be evaluated');
      return failed(spec, textOf(error));
    }
  }

  async #ask({ serviceAccount, path, ...question }: Question): Promise<Verdict> {
    const attributes = {
      ...question,
      user: serviceAccount === undefined ? this.request.user : accountUser(serviceAccount),
      isResource: path === undefined,
      path: path ?? '',
      version: '*',
    };
    const signal = (): AbortSignal => this.context.signal ?? new AbortController().signal;
    try {
      const { effect, reason } = await this.dependencies.authorizer.authorize(attributes, signal);
      return { allowed: effect === 'allow', reason };
    } catch (error) {
      return { allowed: false, reason: '', error: textOf(error) };
    }
  }

  async #inputs(version: string, params: object | null): Promise<PolicyInputs> {
    const { group, resource, namespace, subresource } = this.request;
    const scale = subresource === 'scale' ? this.dependencies.scalePaths(group, resource) : undefined;
    const view = scale === undefined ? objectView(this.request, version) : scaleView(scale);
    const { object, oldObject, ...request } = reviewOf(this.request, version, view, randomUUID()).request;
    const namespaceObject =
      namespace === undefined ? null : seenNamespace(await this.dependencies.namespace(namespace));
    return { object, oldObject, request, params, namespaceObject };
  }

  #enforce(outcome: PolicyOutcome, binding: ValidatingAdmissionPolicyBinding): readonly PolicyDenial[] {
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

  #unusable(message: string, binding: string | undefined): readonly PolicyDenial[] {
    const { denials } = failed(this.policy.object.spec ?? {}, message);
    return denials.map(() => ({ policy: this.#name, binding, message, reason: undefined }));
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function accountUser({ namespace, name }: NonNullable<Question['serviceAccount']>): UserInfo {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { name: `system:serviceaccount:${namespace}:${name}`, groups, extra: {} };
}

/** What expressions may see of a namespace. */
function seenNamespace({ metadata, spec, status }: Namespace): object {
  return {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: omit(metadata, 'managedFields', 'ownerReferences'),
    spec: { finalizers: spec?.finalizers ?? [] },
    status: { phase: status?.phase ?? '' },
  };
}
