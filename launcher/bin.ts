/** The launcher as a program of its own: the entry point of its bundle. */
import { runLauncher } from './main.js';

process.exitCode = await runLauncher(process.argv.slice(2), process);
