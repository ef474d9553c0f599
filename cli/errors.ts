/** What can go wrong, how it is told, and the exit code that says so. */
import { ClientError, StatusError } from '../controllers/runtime/errors.js';

export const exitCodes = {
  success: 0,
  failure: 1,
  /** The command line was wrong. */
  usage: 2,
  /** Ended by a signal, as shells number SIGINT. */
  interrupted: 130,
} as const;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Something about the machine that the user can do something about. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** A local program that was run for the user; it has told why. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
  constructor(readonly exitCode: number) {
    super(`exit status ${exitCode}`);
  }
}

/** Node's own name for what `parseArgs` did not like. */
function isArgumentError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('ERR_PARSE_ARGS')
  );
}

export interface Outcome {
  readonly exitCode: number;
  /** Without the program's name in front; empty where all has been said. */
  readonly message: string;
}

/** A line for the user; `undefined` for what is a defect of ours and deserves its stack. */
export function describe(error: unknown): Outcome | undefined {
  if (error instanceof UsageError || isArgumentError(error)) {
    return { exitCode: exitCodes.usage, message: error.message };
  }
  if (error instanceof ProgramFailed) return { exitCode: error.exitCode, message: '' };
  if (error instanceof StatusError) {
    return { exitCode: exitCodes.failure, message: `${error.message} (${error.reason})` };
  }
  if (error instanceof CommandError || error instanceof ClientError) {
    return { exitCode: exitCodes.failure, message: error.message };
  }
  return undefined;
}
