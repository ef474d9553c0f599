/** A write as policies of both kinds see it: who is concerned, with which params, and what expressions may name. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Namespace } from '../../openapi/generated/types/core_v1.js';
import type { AdmissionContext, AdmissionRequest } from '../admission/interface.js';
import type { Authorizer } from '../authz/authorizer.js';
import { omit } from '../codec/omit.js';
import type { ScalePaths } from '../registry/resource.js';
import type { UserInfo } from '../request.js';
import type { MatchDependencies } from '../webhook-admission/matching.js';
import { reviewOf } from '../webhook-admission/review.js';
import { objectView, scaleView, type View } from '../webhook-admission/view.js';
import type { Question, Verdict } from './authorizer-value.js';
import type { Binding, BoundPolicy } from './bound-policy.js';
import type { PolicyEvaluator } from './evaluator.js';
import type { PolicyInputs } from './expressions.js';
import type { CommonSpec, ParamKind, ParamRef } from './types.js';

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

/** A policy with one of its bindings and one of that one's params, null where the policy takes none. */
export interface PolicyInvocation {
  readonly binding: Binding;
  /** In which the policy sees the object. */
  readonly version: string;
  readonly params: object | null;
}

/** The policy, or its binding, can not be used. */
export interface ConfigurationFault {
  readonly binding: Binding | undefined;
  readonly message: string;
}

export class PolicyView {
  constructor(
    private readonly request: AdmissionRequest,
    private readonly context: AdmissionContext,
    private readonly dependencies: PolicyDependencies,
  ) {}

  /** All that the write concerns. */
  async invocations<Spec extends CommonSpec>(
    policy: BoundPolicy<Spec>,
  ): Promise<readonly (PolicyInvocation | ConfigurationFault)[]> {
    const version = policy.matcher.version(this.request);
    if (version === undefined) return [];
    try {
      if (!(await policy.matcher.selects(this.request))) return [];
    } catch (error) {
      return [{ binding: undefined, message: `failed to configure policy: ${textOf(error)}` }];
    }
    const found: (PolicyInvocation | ConfigurationFault)[] = [];
    for (const binding of policy.bindings) {
      try {
        if (!(await this.#concerned(binding))) continue;
        const params = await this.#params(policy.object.spec?.paramKind, binding);
        found.push(...params.map((each) => ({ binding, version, params: each })));
      } catch (error) {
        found.push({ binding, message: `failed to configure binding: ${textOf(error)}` });
      }
    }
    return found;
  }

  async #concerned({ matcher }: Binding): Promise<boolean> {
    if (matcher === undefined) return true;
    return matcher.version(this.request) !== undefined && (await matcher.selects(this.request));
  }

  async #params(kind: ParamKind | undefined, { object }: Binding): Promise<readonly (object | null)[]> {
    const reference = object.spec?.paramRef;
    if (kind === undefined || reference === undefined) return [null];
    const found = await this.dependencies.params.find(kind, reference, this.request.namespace);
    if (found.length === 0 && reference.parameterNotFoundAction !== 'Allow')
      throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
    return found;
  }

  /** How the object is shown in that version. */
  view(version: string): View {
    const { group, resource, subresource } = this.request;
    const scale = subresource === 'scale' ? this.dependencies.scalePaths(group, resource) : undefined;
    return scale === undefined ? objectView(this.request, version) : scaleView(scale);
  }

  async inputs({ version, params }: PolicyInvocation): Promise<PolicyInputs> {
    const { namespace } = this.request;
    const review = reviewOf(this.request, version, this.view(version), randomUUID());
    const { object, oldObject, ...request } = review.request;
    const namespaceObject =
      namespace === undefined ? null : seenNamespace(await this.dependencies.namespace(namespace));
    return { object, oldObject, request, params, namespaceObject };
  }

  /** What the policy asks of the authorizer. Does not reject. */
  readonly ask = async ({ serviceAccount, path, ...question }: Question): Promise<Verdict> => {
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
  };
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Changes with the policy. */
export function keyOf({ metadata: { uid, resourceVersion } }: BoundPolicy<CommonSpec>['object']): string {
  return `${uid}/${resourceVersion}`;
}

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
