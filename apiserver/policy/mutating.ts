/** The cluster's MutatingAdmissionPolicies, for writes that kube-apiserver hands on without asking them. */
import { cloneJson } from '../../openapi/clone.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type {
  AcceptPatched,
  AdmissionContext,
  AdmissionPlugin,
  AdmissionRequest,
  LateMutation,
} from '../admission/interface.js';
import { Reinvocation } from '../admission/reinvocation.js';
import type { ObjectFields } from '../apply/interface.js';
import { ApiError } from '../errors/api-error.js';
import type { BoundPolicy } from './bound-policy.js';
import type { MutationOutcome } from './mutation-evaluation.js';
import { applyMutation, PatchError } from './patch.js';
import { keyOf, PolicyView, textOf, type PolicyDependencies, type PolicyInvocation } from './policy-view.js';
import { deniedByMutating, type PolicyDenial } from './refusals.js';
import type { MutatingPolicySpec, Mutation } from './types.js';

export interface MutatingPolicyDependencies extends PolicyDependencies {
  /** Of a resource that is served. */
  readonly fields: (group: string, resource: string) => Pick<ObjectFields, 'merge'> | undefined;
}

type MutatingPolicy = BoundPolicy<MutatingPolicySpec>;

export function mutatingPolicies(
  policies: () => readonly MutatingPolicy[],
  dependencies: MutatingPolicyDependencies,
): AdmissionPlugin {
  return {
    name: 'MutatingAdmissionPolicy',
    // A delete has no object that could be changed.
    handles: (request) =>
      request.operation !== 'DELETE' &&
      policies().some(({ matcher }) => matcher.version(request) !== undefined),
    mutateLate: (request, context, accept) =>
      new Mutations(policies(), request, context, accept, dependencies).run(),
  };
}

/** Of one write. */
class Mutations {
  readonly #view: PolicyView;
  readonly #denials: PolicyDenial[] = [];
  /** By `invocationKey`. */
  readonly #reinvocation = new Reinvocation<string>();

  constructor(
    private readonly policies: readonly MutatingPolicy[],
    private readonly request: AdmissionRequest,
    context: AdmissionContext,
    private readonly accept: AcceptPatched,
    private readonly dependencies: MutatingPolicyDependencies,
  ) {
    this.#view = new PolicyView(request, context, dependencies);
  }

  async run(): Promise<LateMutation> {
    const changed = await this.#round(() => true);
    this.#reinvocation.pause(this.request.object);
    return { changed, again: () => this.#runAgain() };
  }

  async #runAgain(): Promise<void> {
    this.#reinvocation.resume(this.request.object);
    if (this.#reinvocation.isAnyDue) await this.#round((key) => this.#reinvocation.isDue(key));
  }

  /** Whether a patch was applied. Which policies are concerned is decided before the first is. */
  async #round(due: (key: string) => boolean): Promise<boolean> {
    const concerned: (readonly [MutatingPolicy, PolicyInvocation])[] = [];
    for (const policy of this.policies) {
      for (const each of await this.#view.invocations(policy)) {
        if ('message' in each) this.#deny(policy, each.binding?.object.metadata.name, each.message);
        else if (due(invocationKey(policy, each))) concerned.push([policy, each]);
      }
    }
    let applied = false;
    for (const [policy, invocation] of concerned) if (await this.#invoke(policy, invocation)) applied = true;
    const [first] = this.#denials;
    if (first !== undefined) throw deniedByMutating(this.request, this.#denials);
    return applied;
  }

  async #invoke(policy: MutatingPolicy, invocation: PolicyInvocation): Promise<boolean> {
    const { matchConditions = [], mutations = [], reinvocationPolicy } = policy.object.spec ?? {};
    const { name } = invocation.binding.object.metadata;
    if (matchConditions.length > 0) {
      const outcome = await this.#evaluate(policy, invocation, undefined);
      const matches = outcome.type === 'match' ? outcome.matches : failureOf(outcome);
      if (matches !== true) {
        if (typeof matches === 'string') this.#deny(policy, name, matches);
        return false;
      }
    }
    let applied = false;
    for (const [index, mutation] of mutations.entries()) {
      const outcome = await this.#evaluate(policy, invocation, index);
      const failure =
        outcome.type === 'patch' ? this.#apply(mutation, outcome.patch, invocation) : failureOf(outcome);
      if (failure === undefined) applied = true;
      else this.#deny(policy, name, failure);
    }
    const mayAgain = reinvocationPolicy === 'IfNeeded';
    this.#reinvocation.ran(invocationKey(policy, invocation), { changed: applied, mayAgain });
    return applied;
  }

  async #evaluate(
    { object }: MutatingPolicy,
    invocation: PolicyInvocation,
    mutation: number | undefined,
  ): Promise<MutationOutcome> {
    try {
      const inputs = await this.#view.inputs(invocation);
      const request = { key: keyOf(object), spec: object.spec ?? {}, inputs, mutation };
      return await this.dependencies.evaluator.mutate(request, this.#view.ask);
    } catch (error) {
      const policy = object.metadata.name;
      this.dependencies.logger.warn({ err: error, policy }, 'a policy can not be evaluated');
      return { type: 'failure', message: textOf(error) };
    }
  }

  /** Why it could not be applied, if so. */
  #apply(mutation: Mutation, patch: unknown, { version }: PolicyInvocation): string | undefined {
    const { object, group, resource } = this.request;
    if (object === undefined) return undefined;
    const before = cloneJson(object);
    const view = this.#view.view(version);
    try {
      const fields = this.dependencies.fields(group, resource);
      this.accept(view.takeBack(applyMutation(mutation, view.show(before), patch, fields), before));
      return undefined;
    } catch (error) {
      if (error instanceof PatchError) return error.message;
      // A value that does not fit the schema is a fault of the configuration, which counts as its failure policy says.
      if (mutation.patchType !== 'ApplyConfiguration') throw error;
      if (!(error instanceof ApiError) || error.reason !== 'Invalid') throw error;
      this.accept(before);
      return `error applying patch: ${error.message}`;
    }
  }

  #deny(policy: MutatingPolicy, binding: string | undefined, message: string): void {
    if (policy.object.spec?.failurePolicy === 'Ignore') return;
    this.#denials.push({ policy: policy.object.metadata.name, binding, message, reason: undefined });
  }
}

function failureOf(outcome: MutationOutcome): string {
  return outcome.type === 'failure' ? outcome.message : `a ${outcome.type} was not asked for`;
}

function invocationKey({ object }: MutatingPolicy, { binding, params }: PolicyInvocation): string {
  const { namespace, name } = (params as Partial<KubernetesObject> | null)?.metadata ?? {};
  return JSON.stringify([object.metadata.name, binding.object.metadata.name, namespace, name]);
}
