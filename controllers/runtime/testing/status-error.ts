import type { KubernetesObject } from '../../../openapi/meta.js';
import type { Kind } from '../client.js';
import { StatusError } from '../errors.js';

const codes = {
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Invalid: 422,
  Forbidden: 403,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
} as const;

export function statusError<T extends KubernetesObject>(
  reason: keyof typeof codes,
  kind: Pick<Kind<T>, 'group' | 'resource'>,
  name = '',
  message = `${kind.resource}${kind.group === '' ? '' : `.${kind.group}`} "${name}": ${reason}`,
): StatusError {
  return new StatusError({
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    reason,
    code: codes[reason],
    message,
    details: { name, group: kind.group, kind: kind.resource },
  });
}
