/** Commands that have something done with a running guest. */
import { virtualMachineInstances } from '../controllers/runtime/kinds.js';
import type { Command, CommandContext, OptionValues } from './command.js';
import { machineArgument, machineSynopsis, runningInstance } from './machine.js';
import { say } from './terminal.js';

export interface GuestActionCommand {
  readonly name: string;
  readonly summary: string;
  readonly subresource: string;
  /** What was done, to the machine's name. */
  readonly told: string;
  /** Whether the API can check without doing. */
  readonly dryRun: boolean;
}

export function guestAction({ name, summary, subresource, told, dryRun }: GuestActionCommand): Command {
  return {
    name,
    synopsis: machineSynopsis,
    summary,
    options: dryRun ? { 'dry-run': { type: 'boolean' } } : {},
    optionHelp: { 'dry-run': 'check only, change nothing' },
    async run(context: CommandContext, values: OptionValues, positionals: readonly string[]) {
      const { client, terminal, signal } = context;
      const { metadata } = await runningInstance(context, machineArgument(positionals));
      const key = { namespace: metadata.namespace, name: metadata.name };
      const checked = values['dry-run'] === true;
      const body = checked ? { dryRun: ['All'] } : {};
      await client.post(virtualMachineInstances, key, 'PUT', subresource, body, signal);
      say(terminal, `${metadata.name} ${told}${checked ? ' (dry run)' : ''}`);
    },
  };
}
