/** Writes and webhooks for tests of webhook admission. */
import type { KubernetesObject } from '../../../openapi/meta.js';
import type { AdmissionContext, AdmissionPlugin, AdmissionRequest } from '../../admission/interface.js';
import { defaultConfiguration } from '../../admission/configuration/defaults.js';
import { compileWebhooks, type Webhook, type WebhookConfiguration } from '../configuration.js';
import type { WebhookDependencies } from '../invocation.js';
import type { AdmissionReview } from '../review.js';

export type WebhookSpec = NonNullable<WebhookConfiguration['webhooks']>[number];

/** Of every write, unless said otherwise. */
export function webhooks(
  ...specs: readonly (Partial<WebhookSpec> & { readonly name: string })[]
): readonly Webhook[] {
  const defaults = {
    clientConfig: { url: 'https://webhook.test' },
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  } as const;
  return compileWebhooks([
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'WebhookConfiguration',
      metadata: { name: 'config', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
      webhooks: specs.map((spec) => ({ ...defaults, ...spec })),
    },
  ]);
}

export function object(labels: Readonly<Record<string, string>> = {}): KubernetesObject {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name: 'vm',
      namespace: 'default',
      uid: 'vm-uid',
      resourceVersion: '',
      creationTimestamp: '2026-01-02T03:04:05Z',
      labels: { ...labels },
    },
  };
}

/** The creation of a virtual machine, unless said otherwise. */
export function request(change: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    operation: 'CREATE',
    group: 'kubevirt.io',
    version: 'v1',
    resource: 'virtualmachines',
    kind: 'VirtualMachine',
    subresource: undefined,
    namespace: 'default',
    name: 'vm',
    object: object(),
    oldObject: undefined,
    user: { name: 'jane', groups: ['devs'], extra: { scopes: ['all'] } },
    dryRun: false,
    ...change,
  };
}

export interface Recorded extends AdmissionContext {
  readonly warnings: string[];
  readonly annotations: Map<string, string>;
}

export function context(signal?: AbortSignal): Recorded {
  const warnings: string[] = [];
  const annotations = new Map<string, string>();
  return {
    configuration: defaultConfiguration,
    lookups: { get: () => Promise.resolve(undefined), list: () => Promise.resolve([]) },
    warn: (text) => warnings.push(text),
    annotate: (key, value) => annotations.set(key, value),
    warnings,
    annotations,
    signal,
  };
}

export type Asked = AdmissionReview['request'];

/** What the webhook of a URL's host answers; a string: why the call fails. */
export type Answers = Readonly<Record<string, (asked: Asked) => object | string>>;

/** Webhooks are told apart by the hosts of their URLs. `calls` has these, in order. */
export function fakeDependencies(answers: Answers): WebhookDependencies & { readonly calls: string[] } {
  const calls: string[] = [];
  let uids = 0;
  return {
    calls,
    caller: {
      call({ url = '' }, review) {
        const { hostname } = new URL(url);
        calls.push(hostname);
        const answer = answers[hostname]?.(review.request) ?? 'nobody is there';
        if (typeof answer === 'string') return Promise.reject(new Error(answer));
        return Promise.resolve({
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: { uid: review.request.uid, ...answer },
        });
      },
    },
    uuid: () => `uid-${uids++}`,
    scalePaths: () => ({
      specReplicas: 'spec.replicas',
      statusReplicas: 'status.replicas',
      labelSelector: 'status.labelSelector',
    }),
    versionsOf: () => ['v1', 'v1alpha3'],
    namespaceLabels: (name) => Promise.resolve({ 'kubernetes.io/metadata.name': name }),
    logger: { warn: () => undefined },
  };
}

/** As the chain runs a plugin alone; what is patched is taken as it is. */
export async function mutate(
  plugin: AdmissionPlugin,
  asked: AdmissionRequest,
  recorded: AdmissionContext,
  between?: () => void,
): Promise<void> {
  const late = await plugin.mutateLate?.(asked, recorded, (patched) => {
    Object.assign(asked.object ?? {}, patched);
  });
  between?.();
  if (late?.changed === true) await late.again();
}

export function patchOf(...operations: readonly object[]): {
  readonly patchType: string;
  readonly patch: string;
} {
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}
