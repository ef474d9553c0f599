/** How long a guest gets to shut down: the flags of `stop` and `restart`. */
import type { OptionSpecs, OptionValues } from './command.js';
import { parseSeconds } from './duration.js';
import { UsageError } from './errors.js';

export const gracePeriodOptions: OptionSpecs = {
  force: { type: 'boolean' },
  'grace-period': { type: 'string' },
};

export const gracePeriodHelp: Readonly<Record<string, string>> = {
  force: 'kill it at once, as if the power failed',
  'grace-period': 'seconds that the guest gets to shut down before it is killed',
};

/** Seconds; undefined leaves it to the machine's own terminationGracePeriodSeconds. */
export function gracePeriod(values: OptionValues): number | undefined {
  const text = values['grace-period'];
  const seconds = typeof text === 'string' ? parseSeconds(text, 'grace-period') : undefined;
  if (values['force'] !== true) return seconds;
  if (seconds !== undefined && seconds !== 0) {
    throw new UsageError('--force kills at once: leave --grace-period out, or set it to 0');
  }
  return 0;
}
