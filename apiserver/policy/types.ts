/** ValidatingAdmissionPolicy and its bindings of admissionregistration.k8s.io/v1, as far as they are read. */
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

export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
}

export interface ValidatingAdmissionPolicy extends KubernetesObject {
  readonly spec?: PolicySpec;
}

export type ValidationAction = 'Deny' | 'Warn' | 'Audit';

export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly ValidationAction[];
}

export interface ValidatingAdmissionPolicyBinding extends KubernetesObject {
  readonly spec?: BindingSpec;
}
