/** `nativirt launcher`, and the program that node agents start directly: one small bundle serves both. */
import { runLauncher } from '../../launcher/main.js';

export const run = (argv: readonly string[]): Promise<number> => runLauncher(argv, process);

if (process.argv[1] === import.meta.filename) process.exitCode = await run(process.argv.slice(2));
