/** The subcommands, in the order of the help. */
import type { Command } from './command.js';
import { console } from './console.js';
import { restart } from './restart.js';
import { start } from './start.js';
import { stop } from './stop.js';

export const commands: readonly Command[] = [console, start, stop, restart];
