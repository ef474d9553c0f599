/** The kinds of admissionregistration.k8s.io, as far as a cluster must have them in which others' webhooks and policies are set up. */
import type { Resource } from '../../apiserver/registry/resource.js';
import { defineCoreResource, versions } from '../../apiserver/resources/define.js';

function registration(kind: string, plural: string): Resource {
  return defineCoreResource({
    group: 'admissionregistration.k8s.io',
    kind,
    plural,
    namespaced: false,
    // Whatever stands in them is kept as it came.
    versions: versions('io.k8s.apimachinery.pkg.runtime.RawExtension', 'v1'),
  });
}

export const registrationKinds: readonly Resource[] = [
  registration('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
  registration('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
  registration('MutatingAdmissionPolicy', 'mutatingadmissionpolicies'),
  registration('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings'),
  registration('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  registration('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
];
