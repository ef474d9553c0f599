/** Durations on the command line. */
import { UsageError } from './errors.js';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `30s`, `1m30s`; a plain number is minutes, as virtctl has it. Milliseconds. */
export function parseDuration(text: string, option: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 60_000;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) {
    throw new UsageError(`--${option} ${JSON.stringify(text)} is no duration; write 30s, 5m or 1h30m`);
  }
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0), 0);
}

/** A whole number of seconds that is not negative. */
export function parseSeconds(text: string, option: string): number {
  if (!/^\d+$/.test(text))
    throw new UsageError(`--${option} ${JSON.stringify(text)} is no number of seconds`);
  return Number(text);
}
