/** `kubectl virt stop`. */
import { virtualMachines } from '../controllers/runtime/kinds.js';
import type { StopOptions } from '../openapi/generated/types/kubevirt_v1.js';
import type { Command } from './command.js';
import { gracePeriod, gracePeriodHelp, gracePeriodOptions } from './grace-period.js';
import { virtualMachineArgument } from './machine.js';
import { say } from './terminal.js';

export const stop: Command = {
  name: 'stop',
  synopsis: 'VM',
  summary: 'stop a virtual machine',
  options: { ...gracePeriodOptions, 'dry-run': { type: 'boolean' } },
  optionHelp: { ...gracePeriodHelp, 'dry-run': 'check only, change nothing' },
  async run({ client, namespace, terminal, signal }, values, positionals) {
    const name = virtualMachineArgument(positionals);
    const dryRun = values['dry-run'] === true;
    const seconds = gracePeriod(values);
    const body: StopOptions = {
      ...(seconds === undefined ? {} : { gracePeriod: seconds }),
      ...(dryRun ? { dryRun: ['All'] } : {}),
    };
    await client.post(virtualMachines, { namespace, name }, 'PUT', 'stop', body, signal);
    say(terminal, `virtual machine ${name} was told to stop${dryRun ? ' (dry run)' : ''}`);
  },
};
