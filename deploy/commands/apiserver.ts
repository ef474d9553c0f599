/** `nativirt apiserver`: standalone's API server without the parts that are its clients. */
import { run as runStandalone } from './standalone.js';

export const run = (argv: readonly string[]): Promise<number> => runStandalone(['--controllers=', ...argv]);
