import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { badRequest } from '../errors/api-error.js';

/** Throws a BadRequest for a VMI without a display. */
export function checkDisplay({ spec }: VirtualMachineInstance): void {
  if (spec.domain.devices.autoattachGraphicsDevice === false)
    throw badRequest('the VMI has no display: spec.domain.devices.autoattachGraphicsDevice is false');
}
