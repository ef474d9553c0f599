import { notSupported } from '../../causes.js';
import { parseJsonText } from '../../json-text.js';
import { specPath, type KubeVirtRule } from './rule.js';

export const customizeComponents: KubeVirtRule = (spec) =>
  (spec.customizeComponents?.patches ?? []).flatMap(({ patch }, index) => {
    const parsed = parseJsonText(patch);
    const place = specPath.child('customizeComponents', 'patches').index(index).child('patch');
    return parsed.valid ? [] : [notSupported(place, parsed.fault)];
  });
