/**
 * The one error type that handlers, registry and admission throw: it is a Status already. The table below is the whole
 * list of reasons; `status.ts` turns anything else that is thrown into one of these.
 */
import type { Status, StatusCause, StatusDetails } from '../../openapi/meta.js';

const httpStatus = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  NotImplemented: 501,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

export type Reason = keyof typeof httpStatus;

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  /** An expired list names the token with which a client may go on, at the price of an inconsistent list. */
  readonly continueToken: string | undefined;
  constructor(
    readonly reason: Reason,
    message: string,
    readonly details?: StatusDetails,
    options?: ErrorOptions & { readonly continueToken?: string },
  ) {
    super(message, options);
    this.code = httpStatus[reason];
    this.continueToken = options?.continueToken;
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** Names an object in a message as Kubernetes does: `virtualmachines.kubevirt.io "a"`. */
function subject(group: string, resource: string, name: string): string {
  return `${resource}${group === '' ? '' : `.${group}`} "${name}"`;
}

const groupDetail = (group: string): { group?: string } => (group === '' ? {} : { group });

export function notFound(group: string, resource: string, name: string): ApiError {
  return new ApiError('NotFound', `${subject(group, resource, name)} not found`, {
    name,
    ...groupDetail(group),
    kind: resource,
  });
}

export function alreadyExists(group: string, resource: string, name: string): ApiError {
  return new ApiError('AlreadyExists', `${subject(group, resource, name)} already exists`, {
    name,
    ...groupDetail(group),
    kind: resource,
  });
}

export function conflict(group: string, resource: string, name: string, why: string): ApiError {
  return new ApiError(
    'Conflict',
    `Operation cannot be fulfilled on ${subject(group, resource, name)}: ${why}`,
    {
      name,
      ...groupDetail(group),
      kind: resource,
    },
  );
}

/** One cause per fault; the message lists them as kube-apiserver does. */
export function invalid(group: string, kind: string, name: string, causes: readonly StatusCause[]): ApiError {
  const faults = causes.map((cause) =>
    cause.field === undefined || cause.field === ''
      ? (cause.message ?? '')
      : `${cause.field}: ${cause.message ?? ''}`,
  );
  const list = faults.length === 1 ? (faults[0] ?? '') : `[${faults.join(', ')}]`;
  return new ApiError('Invalid', `${kind}${group === '' ? '' : `.${group}`} "${name}" is invalid: ${list}`, {
    name,
    ...groupDetail(group),
    kind,
    causes: [...causes],
  });
}

export function badRequest(message: string): ApiError {
  return new ApiError('BadRequest', message);
}
