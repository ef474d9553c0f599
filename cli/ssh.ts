/** `kubectl virt ssh`: the local ssh, through a port-forward. */
import type { Command } from './command.js';
import { UsageError } from './errors.js';
import { parseTarget } from './machine.js';
import { destination, remoteOf, runLocal, sshOptionHelp, sshOptions } from './ssh-options.js';

export const ssh: Command = {
  name: 'ssh',
  synopsis: '[USER@]vm/NAME[/NAMESPACE]',
  summary: 'log in to a guest with ssh',
  options: { ...sshOptions, command: { type: 'string', short: 'c' } },
  optionHelp: { ...sshOptionHelp, command: 'run this there instead of a shell' },
  async run(context, values, positionals) {
    const [target, ...rest] = positionals;
    if (target === undefined || rest.length > 0)
      throw new UsageError('write ssh [USER@]vm/NAME; a command to run there goes behind --command');
    const remote = remoteOf(parseTarget(target), context, values);
    const { command } = values;
    const args = [destination(remote), ...(typeof command === 'string' ? [command] : [])];
    await runLocal('ssh', remote, values, args);
  },
};
