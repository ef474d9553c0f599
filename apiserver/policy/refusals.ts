/** How the refusal of policies is told to the client, in kube-apiserver's words. */
import type { AdmissionRequest } from '../admission/interface.js';
import type { Status } from '../../openapi/meta.js';
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

/** kube-apiserver gives these the code of one reason and the name of another. */
class MutationRefused extends ApiError {
  override toStatus(): Status {
    return { ...super.toStatus(), reason: 'Invalid' };
  }
}

/** A mutating policy refuses only what it can not be applied to. */
export function deniedByMutating(
  { group, resource, name }: AdmissionRequest,
  denials: readonly PolicyDenial[],
): ApiError {
  const causes = denials.map(({ policy, binding, message }) => {
    const by =
      binding === undefined
        ? `policy ${JSON.stringify(policy)}`
        : `policy '${policy}' with binding '${binding}'`;
    return { message: `${by} denied request: ${message}` };
  });
  return new MutationRefused('Forbidden', causes[0]?.message ?? '', {
    name,
    ...(group === '' ? {} : { group }),
    kind: resource,
    causes,
  });
}
