/** `kubectl virt scp`: the local scp, through a port-forward. */
import type { Command } from './command.js';
import { UsageError } from './errors.js';
import { parseTarget } from './machine.js';
import { destination, remoteOf, runLocal, sshOptionHelp, sshOptions } from './ssh-options.js';

export const scp: Command = {
  name: 'scp',
  synopsis: '(FILE [USER@]vm/NAME[/NAMESPACE]:PATH | [USER@]vm/NAME[/NAMESPACE]:PATH FILE)',
  summary: 'copy files to and from a guest with scp',
  options: {
    ...sshOptions,
    recursive: { type: 'boolean', short: 'r' },
    preserve: { type: 'boolean' },
  },
  optionHelp: {
    ...sshOptionHelp,
    recursive: 'copy whole directories',
    preserve: 'keep times and modes',
  },
  async run(context, values, positionals) {
    const [from, to, ...rest] = positionals;
    if (from === undefined || to === undefined || rest.length > 0)
      throw new UsageError('write scp FROM TO, one of them vm/NAME:PATH');
    if (from.includes(':') === to.includes(':'))
      throw new UsageError('one of the two must be in the guest, written as vm/NAME:PATH');
    const there = from.includes(':') ? from : to;
    const colon = there.indexOf(':');
    const remote = remoteOf(parseTarget(there.slice(0, colon)), context, values);
    const named = `${destination(remote)}:${there.slice(colon + 1)}`;
    const flags = [
      ...(values['recursive'] === true ? ['-r'] : []),
      ...(values['preserve'] === true ? ['-p'] : []),
    ];
    await runLocal('scp', remote, values, [
      ...flags,
      from === there ? named : from,
      to === there ? named : to,
    ]);
  },
};
