import { sameJson } from '../../../registry/equal.js';
import { invalid } from '../../causes.js';
import { configurationPath, type KubeVirtRule } from './rule.js';

export const seccompProfile: KubeVirtRule = ({ configuration }, old) => {
  const seccomp = configuration?.seccompConfiguration;
  const profile = seccomp?.virtualMachineInstanceProfile;
  if (profile === undefined || sameJson(seccomp, old.configuration?.seccompConfiguration)) return [];
  const { customProfile } = profile;
  const at = configurationPath.child(
    'seccompConfiguration',
    'virtualMachineInstanceProfile',
    'customProfile',
  );
  if (customProfile === undefined) return [invalid(at, 'must be set')];
  if (customProfile.localhostProfile === undefined || customProfile.runtimeDefaultProfile !== true) return [];
  return [
    invalid(at.child('localhostProfile'), 'excludes runtimeDefaultProfile: true'),
    invalid(at.child('runtimeDefaultProfile'), 'must not be true beside localhostProfile'),
  ];
};
