/** What trusts our authorities in a cluster; only the fields that matter for that. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Kind } from '../runtime/client.js';

interface ClientConfig {
  /** PEM in base64. */
  readonly caBundle?: string;
}

export interface APIService extends KubernetesObject {
  readonly spec: ClientConfig;
}

export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig: ClientConfig }[];
}

export const apiServices: Kind<APIService> = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  resource: 'apiservices',
  namespaced: false,
};

function webhookConfigurations(type: 'Mutating' | 'Validating'): Kind<WebhookConfiguration> {
  const kind = `${type}WebhookConfiguration`;
  return {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced: false,
  };
}

export const mutatingWebhookConfigurations = webhookConfigurations('Mutating');
export const validatingWebhookConfigurations = webhookConfigurations('Validating');
