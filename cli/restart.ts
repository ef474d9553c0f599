/** `kubectl virt restart`. */
import { virtualMachines } from '../controllers/runtime/kinds.js';
import type { RestartOptions } from '../openapi/generated/types/kubevirt_v1.js';
import type { Command } from './command.js';
import { gracePeriod, gracePeriodHelp, gracePeriodOptions } from './grace-period.js';
import { virtualMachineArgument } from './machine.js';
import { say } from './terminal.js';

export const restart: Command = {
  name: 'restart',
  synopsis: 'VM',
  summary: 'stop a virtual machine and start it again',
  options: { ...gracePeriodOptions, 'dry-run': { type: 'boolean' } },
  optionHelp: { ...gracePeriodHelp, 'dry-run': 'check only, change nothing' },
  async run({ client, namespace, terminal, signal }, values, positionals) {
    const name = virtualMachineArgument(positionals);
    const dryRun = values['dry-run'] === true;
    const seconds = gracePeriod(values);
    const body: RestartOptions = {
      ...(seconds === undefined ? {} : { gracePeriodSeconds: seconds }),
      ...(dryRun ? { dryRun: ['All'] } : {}),
    };
    await client.post(virtualMachines, { namespace, name }, 'PUT', 'restart', body, signal);
    say(terminal, `virtual machine ${name} was told to restart${dryRun ? ' (dry run)' : ''}`);
  },
};
