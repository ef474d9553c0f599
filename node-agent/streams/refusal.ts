/** Answers that are no stream, as Kubernetes' Status objects. */
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from 'node:http';
import { launcherErrorCodes } from '../../openapi/launcher/protocol.js';
import type { Status } from '../../openapi/meta.js';
import { LauncherError } from '../launcher-client.js';
import { LauncherConnectionError } from '../unix-socket.js';

export type RefusalReason =
  | 'BadRequest'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'Conflict'
  | 'InternalError'
  | 'ServiceUnavailable';

const codes: Readonly<Record<RefusalReason, number>> = {
  BadRequest: 400,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  Conflict: 409,
  InternalError: 500,
  ServiceUnavailable: 503,
};

/** A request that gets no stream. `message` is a sentence for the user. */
export class Refusal extends Error {
  constructor(
    readonly reason: RefusalReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'Refusal';
  }

  get code(): number {
    return codes[this.reason];
  }

  get status(): Status {
    return {
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      code: this.code,
    };
  }
}

/** What an error on the way to or from a launcher means to the user; other errors are returned as they are. */
export function launcherRefusal(name: string, error: unknown): unknown {
  if (error instanceof LauncherError) {
    return new Refusal(reasonsOfLauncherErrors.get(error.code) ?? 'InternalError', error.message, {
      cause: error,
    });
  }
  if (!(error instanceof LauncherConnectionError)) return error;
  const message = `the launcher of VirtualMachineInstance "${name}" cannot be reached`;
  return new Refusal('ServiceUnavailable', message, { cause: error });
}

const reasonsOfLauncherErrors: ReadonlyMap<number, RefusalReason> = new Map([
  [launcherErrorCodes.consoleBusy, 'Conflict'],
  [launcherErrorCodes.invalidState, 'Conflict'],
  [launcherErrorCodes.guestAgentUnavailable, 'ServiceUnavailable'],
]);

/** Answers an upgrade request that was not upgraded, and ends its connection. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const body = JSON.stringify(refusal.status);
  const head = [
    `HTTP/1.1 ${refusal.code} ${STATUS_CODES[refusal.code] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
