/** Hyper-V enlightenments: what one needs of another. */
import { invalid, required } from '../../causes.js';
import { hypervRequirements } from '../defaults/features.js';
import type { SpecRule } from './rule.js';

export const hyperv: SpecRule = ({ spec, at }) => {
  const features = spec.domain.features;
  const enlightenments = features?.hyperv;
  if (enlightenments === undefined) return [];
  const field = at.child('domain', 'features', 'hyperv');
  const causes = hypervRequirements
    .filter(
      ({ feature, requires }) =>
        enlightenments[feature]?.enabled === true && enlightenments[requires]?.enabled !== true,
    )
    .map(({ feature, requires }) =>
      invalid(field.child(feature), `needs ${requires}, which is switched off`),
    );
  if (features?.hypervPassthrough !== undefined) {
    causes.push(invalid(field, 'hyperv and hypervPassthrough exclude each other'));
  }
  if (enlightenments.evmcs === undefined || enlightenments.evmcs.enabled === false) return causes;
  const cpuFeatures = spec.domain.cpu?.features ?? [];
  const inCpu = at.child('domain', 'cpu', 'features');
  if (cpuFeatures.length === 0) causes.push(required(inCpu, 'evmcs needs the CPU feature vmx'));
  cpuFeatures.forEach(({ name, policy }, index) => {
    if (name === 'vmx' && policy !== 'require')
      causes.push(invalid(inCpu.index(index).child('policy'), 'evmcs needs the policy require'));
  });
  return causes;
};
