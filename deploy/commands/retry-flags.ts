/** Flags of how controllers try failures again, the same wherever controllers run. */
import { defaultLimits, type RateLimiterOptions } from '../../controllers/runtime/rate-limiter.js';
import { durationFlag, integerFlag, FlagError } from './flags.js';

export const retryFlags = {
  'retries-per-second': { type: 'string' },
  'retry-burst': { type: 'string' },
  'retry-min-delay': { type: 'string' },
  'retry-max-delay': { type: 'string' },
} as const;

export const retryUsage = `  --retries-per-second N    how many failures each controller tries again in a second (default: ${defaultLimits.perSecond})
  --retry-burst N           and how many at once (default: ${defaultLimits.burst})
  --retry-min-delay TIME    how long one object waits after its first failure; doubled with each (default: ${defaultLimits.minimum}ms)
  --retry-max-delay TIME    and how long at most (default: ${defaultLimits.maximum / 1000}s)
`;

type Values = { readonly [Flag in keyof typeof retryFlags]?: string | undefined };

/** Throws `FlagError`. */
export function parseRetryLimits(values: Values): Required<RateLimiterOptions> {
  const { perSecond, burst, minimum, maximum } = defaultLimits;
  const limits = {
    perSecond: integerFlag(
      '--retries-per-second',
      values['retries-per-second'] ?? String(perSecond),
      1,
      10_000,
    ),
    burst: integerFlag('--retry-burst', values['retry-burst'] ?? String(burst), 1, 100_000),
    minimum: durationFlag('--retry-min-delay', values['retry-min-delay'] ?? `${minimum}ms`),
    maximum: durationFlag('--retry-max-delay', values['retry-max-delay'] ?? `${maximum}ms`),
  };
  if (limits.minimum < 1 || limits.minimum > limits.maximum)
    throw new FlagError('--retry-min-delay must be at least 1ms, and no longer than --retry-max-delay');
  return limits;
}
