/** Claims that are mounted beside a running guest for backups and memory dumps. */
import type { StatusCause } from '../../../../openapi/meta.js';
import { sameJson } from '../../../registry/equal.js';
import { duplicate, invalid, required } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import type { UpdateRule } from './rule.js';

export const utilityVolumes: UpdateRule = ({ vmi, old, at, configuration }) => {
  const all = vmi.spec.utilityVolumes ?? [];
  const field = at.child('utilityVolumes');
  if (all.length > 0 && !featureEnabled(configuration, 'UtilityVolumes')) {
    return [invalid(field, 'needs the feature gate UtilityVolumes')];
  }
  const volumes = new Set((vmi.spec.volumes ?? []).map(({ name }) => name));
  const permanent = new Set(
    (old.status?.volumeStatus ?? [])
      .filter(({ hotplugVolume }) => hotplugVolume === undefined)
      .map(({ name }) => name),
  );
  const before = new Map((old.spec.utilityVolumes ?? []).map((volume) => [volume.name, volume]));
  const names = new Set<string>();
  return all.flatMap((volume, index) => {
    const { name, claimName } = volume;
    const place = field.index(index);
    const causes: StatusCause[] = [];
    if (name === '') causes.push(required(place.child('name'), 'must be set'));
    if (names.has(name) || volumes.has(name)) {
      causes.push(duplicate(place.child('name'), `another volume is named ${JSON.stringify(name)}`));
    } else if (permanent.has(name))
      causes.push(invalid(place.child('name'), `the guest started with a volume ${name}: take another name`));
    names.add(name);
    if (claimName === '') causes.push(required(place.child('claimName'), 'must be set'));
    const known = before.get(name);
    if (known !== undefined && !sameJson(volume, known)) {
      causes.push(invalid(place, `volume ${name} can be removed and added anew, but not changed`));
    }
    return causes;
  });
};
