/** How much a component logs, while it runs: the configuration counts as klog does, and pino has levels. */
import type { Logger } from 'pino';
import type { SetVerbosity } from '../../controllers/runtime/logger.js';

const leastOf = [
  { verbosity: 5, level: 'trace' },
  { verbosity: 3, level: 'debug' },
  { verbosity: 1, level: 'info' },
] as const;

/** The level that shows what klog's number would. */
export function levelOf(verbosity: number): 'trace' | 'debug' | 'info' | 'warn' {
  return leastOf.find((each) => verbosity >= each.verbosity)?.level ?? 'warn';
}

/**
 * Sets the level of `logger` and of all that are made of it from now on. The level that it has now is what its operator asked the
 * process for: it never says less.
 */
export function verbosityOf(logger: Logger): SetVerbosity {
  const asked = logger.level;
  const descendants = new Set<WeakRef<Logger>>();
  const forgotten = new FinalizationRegistry<WeakRef<Logger>>((reference) => descendants.delete(reference));
  // pino copies the level to a child when it makes it; later changes are ours to pass on.
  logger.onChild = (child) => {
    const reference = new WeakRef<Logger>(child);
    descendants.add(reference);
    forgotten.register(child, reference);
  };
  const severity = (level: string): number => logger.levels.values[level] ?? Infinity;
  return (verbosity) => {
    const configured = verbosity === undefined ? asked : levelOf(verbosity);
    const level = severity(configured) < severity(asked) ? configured : asked;
    if (level === logger.level) return;
    const before = logger.level;
    logger.level = level;
    for (const reference of descendants) {
      const child = reference.deref();
      if (child !== undefined) child.level = level;
    }
    logger.info({ before, level, verbosity }, 'the level of the log has changed');
  };
}
