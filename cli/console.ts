/** `kubectl virt console`: the serial console, across restarts of the server and of the machine. */
import type { Command } from './command.js';
import { consoleMode, ConsoleSession } from './console-session.js';
import { parseDuration } from './duration.js';
import { machineArgument, machineSynopsis } from './machine.js';

const defaultTimeout = 5 * 60_000;

export const console: Command = {
  name: 'console',
  synopsis: machineSynopsis,
  summary: 'connect to the serial console; Ctrl+] leaves it',
  options: {
    force: { type: 'boolean' },
    'read-only': { type: 'boolean' },
    timeout: { type: 'string' },
  },
  optionHelp: {
    force: 'take the console over from whoever types there',
    'read-only': 'watch only; several may',
    timeout: 'how long to wait for a machine that starts, or for a lost connection (default 5m)',
  },
  async run(context, values, positionals) {
    const machine = machineArgument(positionals);
    const timeout = values['timeout'];
    const session = new ConsoleSession(context, machine, {
      mode: consoleMode(values['force'] === true, values['read-only'] === true),
      timeout: typeof timeout === 'string' ? parseDuration(timeout, 'timeout') : defaultTimeout,
    });
    await session.run();
  },
};
