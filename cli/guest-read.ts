/** Commands that print what a guest tells of itself, as JSON. */
import type { Command } from './command.js';
import { machineArgument, machineSynopsis, runningInstance } from './machine.js';
import { instancePath } from './subresource-path.js';

export function guestRead(name: string, subresource: string, summary: string): Command {
  return {
    name,
    synopsis: machineSynopsis,
    summary,
    options: {},
    optionHelp: {},
    async run(context, _values, positionals) {
      const vmi = await runningInstance(context, machineArgument(positionals));
      const answer = await context.client.raw(instancePath(vmi, subresource), context.signal);
      context.terminal.output.write(`${JSON.stringify(answer, undefined, 2)}\n`);
    },
  };
}
