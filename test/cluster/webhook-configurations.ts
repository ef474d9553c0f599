/** The kinds of admissionregistration.k8s.io, as far as a cluster that others' webhooks are set up in must have them. */
import type { Resource } from '../../apiserver/registry/resource.js';
import { defineCoreResource, versions } from '../../apiserver/resources/define.js';

function configurations(kind: string): Resource {
  return defineCoreResource({
    group: 'admissionregistration.k8s.io',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: false,
    // Whatever stands in them is kept as it came.
    versions: versions('io.k8s.apimachinery.pkg.runtime.RawExtension', 'v1'),
  });
}

export const webhookConfigurations: readonly Resource[] = [
  configurations('MutatingWebhookConfiguration'),
  configurations('ValidatingWebhookConfiguration'),
];
