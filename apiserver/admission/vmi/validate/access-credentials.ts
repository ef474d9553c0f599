/** SSH keys and passwords: one kind, one source, one way into the guest. */
import type { StatusCause } from '../../../../openapi/meta.js';
import { invalid } from '../../causes.js';
import type { SpecRule } from './rule.js';

const count = (...values: readonly unknown[]): number => values.filter((value) => value !== undefined).length;

export const accessCredentials: SpecRule = ({ spec, at }) => {
  const has = (kind: 'cloudInitNoCloud' | 'cloudInitConfigDrive'): boolean =>
    (spec.volumes ?? []).some((volume) => volume[kind] !== undefined);
  return (spec.accessCredentials ?? []).flatMap(({ sshPublicKey, userPassword }, index) => {
    const place = at.child('accessCredentials').index(index);
    const causes: StatusCause[] = [];
    if (count(sshPublicKey, userPassword) !== 1)
      causes.push(invalid(place, 'must be sshPublicKey or userPassword'));
    if (sshPublicKey !== undefined) {
      const { source, propagationMethod: method } = sshPublicKey;
      const field = place.child('sshPublicKey');
      if (method.noCloud !== undefined && !has('cloudInitNoCloud')) {
        causes.push(invalid(field.child('propagationMethod'), 'noCloud needs a cloudInitNoCloud volume'));
      }
      if (method.configDrive !== undefined && !has('cloudInitConfigDrive')) {
        causes.push(
          invalid(field.child('propagationMethod'), 'configDrive needs a cloudInitConfigDrive volume'),
        );
      }
      // A client may leave the list out although its schema requires it.
      const users: readonly string[] | undefined = method.qemuGuestAgent?.users;
      if (method.qemuGuestAgent !== undefined && (users ?? []).length === 0) {
        causes.push(
          invalid(field.child('propagationMethod', 'qemuGuestAgent', 'users'), 'must name at least one user'),
        );
      }
      if (count(source.secret) !== 1)
        causes.push(invalid(field.child('source'), 'must have one source: secret'));
      if (count(method.noCloud, method.configDrive, method.qemuGuestAgent) !== 1) {
        causes.push(
          invalid(field.child('propagationMethod'), 'must be one of noCloud, configDrive and qemuGuestAgent'),
        );
      }
    }
    if (userPassword !== undefined) {
      const field = place.child('userPassword');
      if (count(userPassword.source.secret) !== 1)
        causes.push(invalid(field.child('source'), 'must have one source: secret'));
      if (count(userPassword.propagationMethod.qemuGuestAgent) !== 1) {
        causes.push(invalid(field.child('propagationMethod'), 'must be qemuGuestAgent'));
      }
    }
    return causes;
  });
};
