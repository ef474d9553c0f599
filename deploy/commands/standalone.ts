/** `nativirt standalone` */
import { parseStandaloneOptions, standaloneUsage } from '../standalone/options.js';
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
    try {
      const signal = await Promise.race([signalled, standalone.finished.then(() => 'finished' as const)]);
      logger.info({ signal }, 'stopping');
    } finally {
      await standalone.stop();
    }
    return 0;
  } catch (error) {
    process.stderr.write(`nativirt standalone: ${explain(error)}\n`);
    return 1;
  }
}
