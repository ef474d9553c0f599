/** The kubectl plugin: `kubectl virt COMMAND` runs `kubectl-virt COMMAND`. */
import { parseArgs } from 'node:util';
import { createHttpClient } from '../controllers/runtime/http-client.js';
import type { Command, OptionSpecs } from './command.js';
import { commands } from './commands.js';
import { complete, machineNames } from './complete.js';
import { connect } from './connection.js';
import { describe, exitCodes, UsageError } from './errors.js';
import { commandUsage, commonOptions, usage } from './help.js';
import { processTerminal, type Terminal } from './terminal.js';

/** What a process gives a command; tests give their own. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

async function runCommand(
  command: Command,
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<void> {
  const { environment, terminal, signal } = surroundings;
  const { values, positionals } = parseArgs({
    args: normalized(argv, { ...command.options, ...commonOptions }),
    options: { ...command.options, ...commonOptions },
    allowPositionals: true,
  });
  if (values['help'] === true) {
    terminal.output.write(commandUsage(command));
    return;
  }
  if ('runLocally' in command) {
    await command.runLocally(terminal, values, positionals);
    return;
  }
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const flags = { kubeconfig: text('kubeconfig'), context: text('context') };
  const connection = await connect(flags, environment);
  const client = createHttpClient({ ...connection, userAgent: 'kubectl-virt', fieldManager: 'kubectl-virt' });
  const namespace = text('namespace') ?? connection.namespace ?? 'default';
  try {
    await command.run({ connection, client, namespace, terminal, signal }, values, positionals);
  } finally {
    client.close();
  }
}

/** The longest name that fits: `create vm` before `create`. */
function commandName(argv: readonly string[]): {
  readonly name: string | undefined;
  readonly rest: string[];
} {
  const [first, second = ''] = argv;
  const two = `${first ?? ''} ${second}`;
  if (commands.some((candidate) => candidate.name === two)) return { name: two, rest: argv.slice(2) };
  return { name: first, rest: argv.slice(1) };
}

/**
 * What virtctl's users write and `parseArgs` does not take: `--stdio=true`, and values that start with a dash, as in
 * `-t "-o LogLevel=ERROR"`.
 */
function normalized(argv: readonly string[], options: OptionSpecs): string[] {
  const words: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--') return [...words, ...argv.slice(index)];
    const [, name = '', truth] = /^--([a-z-]+)=(true|false)$/.exec(word) ?? [];
    const valued = Object.entries(options).find(
      ([long, { type, short }]) => type === 'string' && (word === `--${long}` || word === `-${short ?? ''}`),
    );
    const value = argv[index + 1];
    if (options[name]?.type === 'boolean') {
      if (truth === 'true') words.push(`--${name}`);
    } else if (valued !== undefined && value !== undefined) {
      words.push(`--${valued[0]}=${value}`);
      index++;
    } else words.push(word);
  }
  return words;
}

/** Runs one command line; answers its exit code. */
export async function execute(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal, signal } = surroundings;
  const { name, rest } = commandName(argv);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.output.write(usage(commands));
    return name === undefined ? exitCodes.usage : exitCodes.success;
  }
  if (name === '__complete') return await completeWords(rest, surroundings);
  try {
    const command = commands.find((candidate) => candidate.name === name);
    if (command === undefined) {
      throw new UsageError(`there is no command ${JSON.stringify(name)}; see kubectl virt --help`);
    }
    await runCommand(command, rest, surroundings);
    return exitCodes.success;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return exitCodes.interrupted;
    const outcome = describe(error);
    if (outcome === undefined) throw error;
    if (outcome.message !== '') terminal.messages.write(`kubectl virt: ${outcome.message}\n`);
    return outcome.exitCode;
  }
}

/** Candidates a line, and `:4`: kubectl is not to add the names of files. Nothing where no server can be asked. */
async function completeWords(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { environment, terminal, signal } = surroundings;
  const flag = (name: string): string | undefined => {
    const at = words.lastIndexOf(`--${name}`);
    return at < 0 ? undefined : words[at + 1];
  };
  const ask = async (): Promise<{ vms: readonly string[]; vmis: readonly string[] }> => {
    try {
      const connection = await connect(
        { kubeconfig: flag('kubeconfig'), context: flag('context') },
        environment,
      );
      const client = createHttpClient({ ...connection, userAgent: 'kubectl-virt' });
      try {
        const namespace = flag('namespace') ?? connection.namespace ?? 'default';
        return await machineNames(client, namespace, signal).list();
      } finally {
        client.close();
      }
    } catch {
      // A shell that completes has no place for messages.
      return { vms: [], vmis: [] };
    }
  };
  const candidates = await complete(words, commands, commonOptions, { list: ask });
  terminal.output.write([...candidates, ':4', ''].join('\n'));
  return exitCodes.success;
}

export async function main(argv: readonly string[]): Promise<number> {
  const interruption = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => interruption.abort(new Interrupted(signal));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  try {
    return await execute(argv, {
      environment: process.env,
      terminal: processTerminal(),
      signal: interruption.signal,
    });
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}
