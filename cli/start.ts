/** `kubectl virt start`. */
import { virtualMachines } from '../controllers/runtime/kinds.js';
import type { StartOptions } from '../openapi/generated/types/kubevirt_v1.js';
import type { Command } from './command.js';
import { virtualMachineArgument } from './machine.js';
import { say } from './terminal.js';

export const start: Command = {
  name: 'start',
  synopsis: 'VM',
  summary: 'start a virtual machine',
  options: { paused: { type: 'boolean' }, 'dry-run': { type: 'boolean' } },
  optionHelp: {
    paused: 'start it paused',
    'dry-run': 'check only, change nothing',
  },
  async run({ client, namespace, terminal, signal }, values, positionals) {
    const name = virtualMachineArgument(positionals);
    const dryRun = values['dry-run'] === true;
    const body: StartOptions = {
      ...(values['paused'] === true ? { paused: true } : {}),
      ...(dryRun ? { dryRun: ['All'] } : {}),
    };
    await client.post(virtualMachines, { namespace, name }, 'PUT', 'start', body, signal);
    say(terminal, `virtual machine ${name} was told to start${dryRun ? ' (dry run)' : ''}`);
  },
};
