/** The admission policies of admissionregistration.k8s.io and their bindings, as far as they are read. */
import type { KubernetesObject, LabelSelector } from '../../openapi/meta.js';
import type { MatchCondition, Rule } from '../webhook-admission/configuration.js';

export interface NamedRule extends Rule {
  /** Empty: any name. */
  readonly resourceNames?: readonly string[];
}

export interface MatchResources {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRule[];
  readonly excludeResourceRules?: readonly NamedRule[];
  readonly matchPolicy?: 'Exact' | 'Equivalent';
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: 'Allow' | 'Deny';
}

export interface Validation {
  /** CEL, as all expressions here. */
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

/** What policies of both kinds say. */
export interface CommonSpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
}

export interface PolicySpec extends CommonSpec {
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
}

interface Patch {
  readonly expression: string;
}

export type Mutation =
  | { readonly patchType: 'ApplyConfiguration'; readonly applyConfiguration: Patch }
  | { readonly patchType: 'JSONPatch'; readonly jsonPatch: Patch };

export interface MutatingPolicySpec extends CommonSpec {
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

/** A policy of either kind. */
export interface AdmissionPolicy<Spec extends CommonSpec = CommonSpec> extends KubernetesObject {
  readonly spec?: Spec;
}

export type ValidatingAdmissionPolicy = AdmissionPolicy<PolicySpec>;
export type MutatingAdmissionPolicy = AdmissionPolicy<MutatingPolicySpec>;

export type ValidationAction = 'Deny' | 'Warn' | 'Audit';

/** Of bindings of both kinds. */
export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  /** Of validating policies only. */
  readonly validationActions?: readonly ValidationAction[];
}

export interface PolicyBinding extends KubernetesObject {
  readonly spec?: BindingSpec;
}
