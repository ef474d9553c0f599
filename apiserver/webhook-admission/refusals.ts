/** How a webhook's refusals and failures are told to the client, in kube-apiserver's words. */
import type { Status } from '../../openapi/meta.js';
import { ApiError, badRequest, type Reason } from '../errors/api-error.js';

/** Refused by a webhook, with the Status that it gave: any code from 400, and whatever reason and details it likes. */
export class DeniedByWebhook extends ApiError {
  override readonly code: number;

  constructor(private readonly status: Status & { readonly code: number; readonly message: string }) {
    super(reasonOf(status.code), status.message);
    this.code = status.code;
  }

  override toStatus(): Status {
    return this.status;
  }
}

const reasons: Readonly<Record<number, Reason>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** For the server's own use; the client sees what the webhook said. */
const reasonOf = (code: number): Reason => reasons[code] ?? (code < 500 ? 'BadRequest' : 'InternalError');

export function denied(webhook: string, answer: Partial<Status> | undefined): DeniedByWebhook {
  const { code = 0, message = '', reason = '' } = answer ?? {};
  const why = message === '' ? reason : message;
  const by = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  return new DeniedByWebhook({
    ...answer,
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: code >= 400 && code < 600 ? code : 400,
    message: why === '' ? `${by} without explanation` : `${by}: ${why}`,
  });
}

export function dryRunUnsupported(webhook: string): ApiError {
  return badRequest(`admission webhook ${JSON.stringify(webhook)} does not support dry run`);
}

/** The webhook could not be asked, or its answer could not be understood: its failure policy says what follows. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  constructor(webhook: string, why: string, options?: ErrorOptions) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`, options);
  }
}

export function internal(message: string, cause?: unknown): ApiError {
  return new ApiError(
    'InternalError',
    `Internal error occurred: ${message}`,
    { causes: [{ message }] },
    { cause },
  );
}
