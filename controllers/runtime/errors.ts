/** Every error that a `Client` rejects with, besides the reason of an aborted signal. */
import type { Status } from '../../openapi/meta.js';

export abstract class ClientError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The server answered with a failure. */
export class StatusError extends ClientError {
  readonly code: number;
  /** Kubernetes' word: `NotFound`, `Conflict`, `AlreadyExists` … */
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly status: Status,
    retryAfterSeconds?: number,
  ) {
    super(status.message ?? status.reason ?? 'the server refused without saying why');
    this.code = status.code ?? 500;
    this.reason = status.reason ?? 'Unknown';
    this.retryAfterSeconds = retryAfterSeconds ?? status.details?.retryAfterSeconds;
  }
}

/** No usable answer came: the connection failed, timed out, or carried something that is not Kubernetes' API. */
export class ConnectionError extends ClientError {}

/** The kubeconfig or in-cluster files can not be used. */
export class ConfigurationError extends ClientError {}

const hasReason =
  (...reasons: readonly string[]) =>
  (error: unknown): error is StatusError =>
    error instanceof StatusError && reasons.includes(error.reason);

export const isNotFound = hasReason('NotFound');
export const isAlreadyExists = hasReason('AlreadyExists');
/** The object is no longer what the write expected. */
export const isConflict = hasReason('Conflict');
/** The resourceVersion is too old: list again. */
export const isExpired = hasReason('Expired', 'Gone');
