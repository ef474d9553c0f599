import { launcherErrorCodes } from '../../openapi/launcher/protocol.js';
import { InvalidStateError } from '../domain.js';
import { GuestAgentError } from '../guest-agent.js';
import { PortForwardError } from '../port-forward.js';
import { QmpError } from '../qmp/errors.js';

/** JSON-RPC's own codes, then those of the launcher. */
const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  ...launcherErrorCodes,
} as const;

export class ControlError extends Error {
  override readonly name = 'ControlError';
  constructor(
    readonly kind: keyof typeof codes,
    message: string,
  ) {
    super(message);
  }
}

export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
}

/** How an error goes over the wire. */
export function toJsonRpcError(error: unknown): JsonRpcError {
  return { code: codes[kindOf(error)], message: error instanceof Error ? error.message : String(error) };
}

function kindOf(error: unknown): keyof typeof codes {
  if (error instanceof ControlError) return error.kind;
  if (error instanceof InvalidStateError) return 'invalidState';
  if (error instanceof GuestAgentError) return 'guestAgentUnavailable';
  if (error instanceof QmpError || error instanceof PortForwardError) return 'qemu';
  return 'internalError';
}
