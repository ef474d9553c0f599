import type { TypedLocalObjectReference } from '../../openapi/generated/types/core_v1.js';
import type { StatusCause } from '../../openapi/meta.js';
import { invalid, notFound, unknownWord, type FieldPath } from './causes.js';

/** Of a reference that can only be to a VirtualMachine. One cause at most: without its group a kind means nothing. */
export function virtualMachineReferenceCauses(
  { apiGroup, kind }: TypedLocalObjectReference,
  at: FieldPath,
): StatusCause[] {
  if (apiGroup === undefined) return [notFound(at.child('apiGroup'), 'must be set, to kubevirt.io')];
  if (apiGroup !== 'kubevirt.io')
    return [invalid(at.child('apiGroup'), unknownWord(apiGroup, ['kubevirt.io']))];
  return kind === 'VirtualMachine' ? [] : [invalid(at.child('kind'), unknownWord(kind, ['VirtualMachine']))];
}
