/** How the refusal of a policy is told to the client, in kube-apiserver's words. */
import type { AdmissionRequest } from '../admission/interface.js';
import { ApiError, type Reason } from '../errors/api-error.js';

export interface PolicyDenial {
  readonly policy: string;
  /** Undefined: the policy itself can not be used. */
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string | undefined;
}

const reasons: readonly Reason[] = ['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'];

export function denied(
  { group, resource, name }: AdmissionRequest,
  { policy, binding, message, reason }: PolicyDenial,
): ApiError {
  const by = binding === undefined ? '' : ` with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`;
  const subject = group === '' ? resource : `${resource}.${group}`;
  return new ApiError(
    reasons.find((each) => each === reason) ?? 'Invalid',
    `${subject} ${JSON.stringify(name)} is forbidden: ${why}`,
    { name, ...(group === '' ? {} : { group }), kind: resource, causes: [{ message: why }] },
  );
}
