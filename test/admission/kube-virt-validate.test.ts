import { kubeVirtValidation } from '../../apiserver/admission/kubevirt/validate.js';
import { existing, testVectors } from './kind-vectors.js';

const plugin = kubeVirtValidation();

testVectors('kube-virt-create-validate', {
  plugin,
  resource: { group: 'kubevirt.io', resource: 'kubevirts' },
  supply: (_row, index) => (index === 0 ? { existing: [existing('KubeVirt', 'kubevirt')] } : {}),
});

testVectors('kube-virt-update-validate', { plugin });
