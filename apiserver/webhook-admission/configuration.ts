/** MutatingWebhookConfiguration and ValidatingWebhookConfiguration of admissionregistration.k8s.io/v1, made ready for use. */
import type { KubernetesObject, LabelSelector } from '../../openapi/meta.js';
import { compileLabelSelector, everything, type LabelMatcher } from '../../openapi/selectors.js';
import { compileCel, type Program } from '../cel/compile.js';
import type { AdmissionRequest } from '../admission/interface.js';

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly (AdmissionRequest['operation'] | 'CONNECT' | '*')[];
  /** Resources and subresources, `*` for any: `pods`, `pods/status`. */
  readonly resources?: readonly string[];
  readonly scope?: 'Cluster' | 'Namespaced' | '*';
}

export interface MatchCondition {
  readonly name: string;
  /** CEL. */
  readonly expression: string;
}

/** Where a webhook is: exactly one of `url` and `service`. */
export interface ClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM bundle in base64; the system's authorities if absent. */
  readonly caBundle?: string;
}

interface WebhookSpec {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
  readonly sideEffects?: 'None' | 'NoneOnDryRun' | 'Some' | 'Unknown';
  /** 1 to 30. */
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  /** Of mutating webhooks only. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly WebhookSpec[];
}

export interface CompiledCondition {
  readonly name: string;
  /** Throws if it can not be told. */
  readonly holds: Program;
}

/** One webhook, its defaults filled in. */
export interface Webhook {
  readonly configuration: string;
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly rules: readonly Rule[];
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchPolicy: 'Exact' | 'Equivalent';
  /** Throws `SelectorError` if it can not be read: that is the fault of this webhook, not of all. */
  readonly namespaceSelector: () => LabelMatcher;
  readonly objectSelector: () => LabelMatcher;
  readonly matchConditions: readonly CompiledCondition[];
  readonly supportsDryRun: boolean;
  readonly timeoutSeconds: number;
  readonly reviewVersions: readonly string[];
  readonly reinvocationPolicy: 'Never' | 'IfNeeded';
}

/** In the order in which webhooks are called: configurations by name, then as they stand there. */
export function compileWebhooks(configurations: readonly WebhookConfiguration[]): readonly Webhook[] {
  return [...configurations]
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap(({ metadata, webhooks = [] }) => webhooks.map((spec) => compile(metadata.name, spec)));
}

function compile(configuration: string, spec: WebhookSpec): Webhook {
  const { sideEffects } = spec;
  return {
    configuration,
    name: spec.name,
    clientConfig: spec.clientConfig,
    rules: spec.rules ?? [],
    failurePolicy: spec.failurePolicy ?? 'Fail',
    matchPolicy: spec.matchPolicy ?? 'Equivalent',
    namespaceSelector: compileSelector(spec.namespaceSelector),
    objectSelector: compileSelector(spec.objectSelector),
    matchConditions: (spec.matchConditions ?? []).map(compileCondition),
    supportsDryRun: sideEffects === 'None' || sideEffects === 'NoneOnDryRun',
    timeoutSeconds: spec.timeoutSeconds ?? 10,
    reviewVersions: spec.admissionReviewVersions ?? [],
    reinvocationPolicy: spec.reinvocationPolicy ?? 'Never',
  };
}

function compileCondition({ name, expression }: MatchCondition): CompiledCondition {
  let compiled: Program | undefined;
  return { name, holds: (variables) => (compiled ??= compileCel(expression))(variables) };
}

/** A selector that is not there selects everything. */
export function compileSelector(selector: LabelSelector | undefined): () => LabelMatcher {
  let compiled: LabelMatcher | undefined;
  return () => (compiled ??= selector === undefined ? everything : compileLabelSelector(selector));
}
