/** Usage texts. */
import type { Command, OptionSpecs } from './command.js';

/** Flags that every command has. */
export const commonOptions: OptionSpecs = {
  namespace: { type: 'string', short: 'n' },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
};

const commonHelp: Readonly<Record<string, string>> = {
  namespace: "the machine's namespace (default: the context's)",
  context: 'the kubeconfig context to use',
  kubeconfig: 'path of the kubeconfig (default: $KUBECONFIG, then ~/.kube/config)',
  help: 'show this help',
};

function optionLines(options: OptionSpecs, help: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).map(([name, { type, short }]) => {
    const flag = `${short === undefined ? '    ' : `-${short}, `}--${name}${type === 'string' ? ` ${name.toUpperCase().replaceAll('-', '_')}` : ''}`;
    return `  ${flag.padEnd(32)} ${help[name] ?? ''}`;
  });
}

export function usage(commands: readonly Command[]): string {
  return [
    'Virtual machines from the command line.',
    '',
    'Usage: kubectl virt COMMAND [FLAGS]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(16)} ${summary}`),
    '',
    '`kubectl virt COMMAND --help` lists the flags of a command.',
    '',
  ].join('\n');
}

export function commandUsage(command: Command): string {
  return [
    `kubectl virt ${command.name}: ${command.summary}.`,
    '',
    `Usage: kubectl virt ${command.name} ${command.synopsis} [FLAGS]`,
    '',
    ...optionLines({ ...command.options, ...commonOptions }, { ...command.optionHelp, ...commonHelp }),
    '',
  ].join('\n');
}
