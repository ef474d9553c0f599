/** `kubectl virt screenshot`, and under virtctl's name `vnc screenshot`. */
import { writeFile } from 'node:fs/promises';
import type { Command } from './command.js';
import { UsageError } from './errors.js';
import { machineArgument, machineSynopsis, runningInstance } from './machine.js';
import { instancePath } from './subresource-path.js';

function command(name: string): Command {
  return {
    name,
    synopsis: `${machineSynopsis} -f FILE`,
    summary: 'save what a display shows as a PNG image',
    options: {
      file: { type: 'string', short: 'f' },
      'move-cursor': { type: 'boolean', short: 'm' },
    },
    optionHelp: {
      file: 'where to write the image; - is the standard output',
      'move-cursor': 'move the pointer first, to wake a screen saver',
    },
    async run(context, values, positionals) {
      const machine = machineArgument(positionals);
      const file = values['file'];
      if (typeof file !== 'string') throw new UsageError('where to? Write --file FILE, or --file -');
      const vmi = await runningInstance(context, machine);
      const query = new URLSearchParams(values['move-cursor'] === true ? { moveCursor: 'true' } : {});
      const image = await context.client.bytes(instancePath(vmi, 'vnc/screenshot'), query, context.signal);
      if (file === '-') context.terminal.output.write(image);
      else await writeFile(file, image);
    },
  };
}

export const screenshot = command('screenshot');
export const vncScreenshot = command('vnc screenshot');
