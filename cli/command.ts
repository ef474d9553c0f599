/** What a subcommand is. One file each; `commands.ts` lists them. */
import type { ParseArgsConfig } from 'node:util';
import type { HttpClient } from '../controllers/runtime/http-client.js';
import type { ConnectionOptions } from '../controllers/runtime/kubeconfig.js';
import type { Terminal } from './terminal.js';

export type OptionSpecs = NonNullable<ParseArgsConfig['options']>;
export type OptionValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export interface CommandContext {
  readonly connection: ConnectionOptions;
  readonly client: HttpClient;
  /** From -n, else the kubeconfig's context, else `default`. */
  readonly namespace: string;
  readonly terminal: Terminal;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
}

interface CommandBase {
  /** One or two words. */
  readonly name: string;
  /** Shown behind the name: `(VM | vm/NAME | vmi/NAME)`. */
  readonly synopsis: string;
  readonly summary: string;
  readonly options: OptionSpecs;
  /** A line of help for each option. */
  readonly optionHelp: Readonly<Record<string, string>>;
}

/** Both kinds reject with what `errors.ts` knows how to tell, and resolve when all went well. */
export interface ServerCommand extends CommandBase {
  run(context: CommandContext, values: OptionValues, positionals: readonly string[]): Promise<void>;
}

/** Needs no server. */
export interface LocalCommand extends CommandBase {
  runLocally(terminal: Terminal, values: OptionValues, positionals: readonly string[]): Promise<void>;
}

export type Command = ServerCommand | LocalCommand;
