import { notSupported } from '../../causes.js';
import { configurationPath, type KubeVirtRule } from './rule.js';

export const memoryOverheadRatio: KubeVirtRule = ({ configuration }) => {
  const text = configuration?.additionalGuestMemoryOverheadRatio;
  if (text === undefined || (text.trim() !== '' && Number(text) >= 1)) return [];
  return [
    notSupported(
      configurationPath.child('additionalGuestMemoryOverheadRatio'),
      `${JSON.stringify(text)} must be a number of at least 1.0`,
    ),
  ];
};
