/** `nativirt standalone` */
import { parseStandaloneOptions, standaloneUsage } from '../standalone/options.js';
import { guestsEndNow } from '../standalone/guests-at-stop.js';
import { startStandalone } from '../standalone/standalone.js';
import { createLogger, explain, untilSignalled } from './process.js';

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const options = parseStandaloneOptions(argv);
    if (options === undefined) {
      process.stdout.write(standaloneUsage);
      return 0;
    }
    const logger = createLogger(options.logLevel);
    const signalled = untilSignalled();
    const standalone = await startStandalone(options, logger);
    process.stdout.write(
      `nativirt is ready at ${standalone.server}; export KUBECONFIG=${standalone.kubeconfig}\n`,
    );
    let guests: number | undefined;
    try {
      const signal = await Promise.race([signalled, standalone.finished.then(() => 'finished' as const)]);
      const { guestsAtStop } = options;
      if (await guestsEndNow(guestsAtStop)) guests = guestsAtStop.gracePeriod;
      logger.info({ signal, guests }, 'stopping');
    } finally {
      await standalone.stop(guests);
    }
    return 0;
  } catch (error) {
    process.stderr.write(`nativirt standalone: ${explain(error)}\n`);
    return 1;
  }
}
