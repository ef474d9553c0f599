/** The kubectl plugin: `kubectl virt COMMAND` runs `kubectl-virt COMMAND`. */
import { parseArgs } from 'node:util';
import { createHttpClient } from '../controllers/runtime/http-client.js';
import type { Command } from './command.js';
import { commands } from './commands.js';
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
    args: [...argv],
    options: { ...command.options, ...commonOptions },
    allowPositionals: true,
  });
  if (values['help'] === true) {
    terminal.output.write(commandUsage(command));
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

/** Runs one command line; answers its exit code. */
export async function execute(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal, signal } = surroundings;
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.output.write(usage(commands));
    return name === undefined ? exitCodes.usage : exitCodes.success;
  }
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
    terminal.messages.write(`kubectl virt: ${outcome.message}\n`);
    return outcome.exitCode;
  }
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
