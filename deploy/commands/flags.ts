/** Flags of the commands: node's parser, with errors in one line. */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { parseDurationMs } from '../../openapi/duration.js';

/** A flag that can not be, in one line. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

type Flags = NonNullable<ParseArgsConfig['options']>;

export function parseFlags<T extends Flags>(argv: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: false, strict: true }).values;
  } catch (error) {
    throw new FlagError(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

export function integerFlag(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new FlagError(`${flag} ${text}: must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** A duration as Go writes it, in milliseconds. */
export function durationFlag(flag: string, text: string): number {
  const milliseconds = parseDurationMs(text);
  if (milliseconds === undefined || milliseconds > longestDuration)
    throw new FlagError(`${flag} ${text}: must be a duration such as 500ms, 30s or 5m, of at most 24h`);
  return milliseconds;
}

const longestDuration = 24 * 60 * 60 * 1000;

export function requiredFlag(flag: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new FlagError(`${flag} must be given`);
  return value;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

export function logLevelFlag(level = 'info'): string {
  if (!logLevels.includes(level))
    throw new FlagError(`--log-level ${level}: must be one of ${logLevels.join(', ')}`);
  return level;
}
