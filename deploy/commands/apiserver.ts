/** `nativirt apiserver`: the API server of a cluster. */
import { apiserverUsage, parseApiserverOptions } from '../apiserver/options.js';
import { startApiserver } from '../apiserver/apiserver.js';
import { createLogger, runUntilSignalled, untilAborted } from './process.js';

export const run = (argv: readonly string[]): Promise<number> =>
  runUntilSignalled('apiserver', async (signal) => {
    const options = parseApiserverOptions(argv);
    if (options === undefined) {
      process.stdout.write(apiserverUsage);
      return;
    }
    const apiserver = await startApiserver(options, createLogger(options.logLevel));
    try {
      await Promise.race([apiserver.ready, untilAborted(signal)]);
      if (!signal.aborted) process.stdout.write(`nativirt apiserver is ready at port ${apiserver.port}\n`);
      await untilAborted(signal);
    } finally {
      await apiserver.stop();
    }
  });
