/**
 * One use of a console: wait until there is something to connect to, connect, relay, and when the connection is lost
 * begin again. Ends when the user leaves, when the machine has stopped, or when nothing came of it for `timeout`.
 */
import type { WebSocket } from 'ws';
import { ConnectionError, StatusError } from '../controllers/runtime/errors.js';
import type { CommandContext } from './command.js';
import { CommandError, UsageError } from './errors.js';
import { findMachine, type FoundMachine, type MachineReference } from './machine.js';
import { relay } from './relay.js';
import { say } from './terminal.js';
import { pause } from './wait.js';
import { openStream } from './websocket.js';

export type ConsoleMode = 'write' | 'read' | 'force';

export interface ConsoleOptions {
  readonly mode: ConsoleMode;
  /** Milliseconds. */
  readonly timeout: number;
}

export function consoleMode(force: boolean, readOnly: boolean): ConsoleMode {
  if (force && readOnly)
    throw new UsageError('--force is for typing and --read-only for watching: choose one');
  if (force) return 'force';
  return readOnly ? 'read' : 'write';
}

/** Where a machine stands, as far as its console is concerned. */
type Readiness =
  | { readonly state: 'ready'; readonly uid: string; readonly name: string }
  | { readonly state: 'coming'; readonly detail: string }
  | { readonly state: 'stopped'; readonly detail: string };

const retryDelay = 500;

function readinessOf({ vm, vmi }: FoundMachine): Readiness {
  const phase = vmi?.status?.phase ?? '';
  if (vmi !== undefined && phase === 'Running') {
    return { state: 'ready', uid: vmi.metadata.uid, name: vmi.metadata.name };
  }
  const printable = vm?.status?.printableStatus;
  if (vmi !== undefined && phase !== 'Succeeded' && phase !== 'Failed') {
    return { state: 'coming', detail: printable ?? (phase === '' ? 'Pending' : phase) };
  }
  // Between two instances of a machine that is to run there is none, or the last one with its final phase.
  const wanted = vm?.status?.printableStatus !== undefined && vm.status.printableStatus !== 'Stopped';
  if (wanted) return { state: 'coming', detail: printable ?? '' };
  return { state: 'stopped', detail: printable ?? phase };
}

export class ConsoleSession {
  /** Of the instance that we were connected to last. */
  private uid: string | undefined;
  private mode: ConsoleMode;
  private deadline: number;
  private told = '';

  constructor(
    private readonly context: CommandContext,
    private readonly machine: MachineReference,
    private readonly options: ConsoleOptions,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.mode = options.mode;
    this.deadline = this.now() + options.timeout;
  }

  private get name(): string {
    return this.machine.name;
  }

  async run(): Promise<void> {
    for (;;) {
      const target = await this.waitForMachine();
      if (target === undefined) return;
      const socket = await this.connect(target);
      if (socket === undefined) continue;
      const end = await this.use(socket, target);
      if (end === 'left') return;
      this.deadline = this.now() + this.options.timeout;
    }
  }

  /** The instance to connect to; undefined when a machine that we were connected to has stopped. */
  private async waitForMachine(): Promise<{ uid: string; name: string } | undefined> {
    for (;;) {
      const readiness = await this.look();
      if (readiness.state === 'ready') return readiness;
      if (readiness.state === 'stopped') {
        if (this.uid === undefined) throw new CommandError(this.stoppedMessage(readiness.detail));
        say(this.context.terminal, `${this.name} has stopped (${readiness.detail}).`);
        return undefined;
      }
      this.tell(`Waiting for ${this.name} to start (${readiness.detail}) …`);
      await this.pauseBefore(`${this.name} is still ${readiness.detail}`);
    }
  }

  private stoppedMessage(detail: string): string {
    const { namespace } = this.context;
    const state = detail === '' ? '' : ` (${detail})`;
    const advice =
      this.machine.type === 'vmi' ? '' : `; start it with: kubectl virt start ${this.name} -n ${namespace}`;
    return `"${this.name}" in namespace "${namespace}" is not running${state}${advice}`;
  }

  private async look(): Promise<Readiness> {
    const { client, namespace, signal } = this.context;
    for (;;) {
      try {
        return readinessOf(await findMachine(client, namespace, this.machine, signal));
      } catch (error) {
        // A machine that was deleted while we were connected has come to its end, too.
        if (this.uid !== undefined && error instanceof CommandError)
          return { state: 'stopped', detail: 'deleted' };
        if (this.uid === undefined || !(error instanceof ConnectionError)) throw error;
        this.tell(`Connection lost (${error.message}). Reconnecting …`);
        await this.pauseBefore(error.message);
      }
    }
  }

  private async connect(target: { name: string }): Promise<WebSocket | undefined> {
    const { connection, namespace, signal } = this.context;
    const query = new URLSearchParams(this.mode === 'write' ? {} : { mode: this.mode });
    try {
      return await openStream(
        connection,
        { namespace, resource: 'virtualmachineinstances', name: target.name, stream: 'console', query },
        signal,
      );
    } catch (error) {
      const lost = error instanceof ConnectionError && this.uid !== undefined;
      // The node's agent may be restarting, and an instance may end between two of our requests.
      const unready =
        error instanceof StatusError && (error.code === 503 || error.code === 404 || error.code === 504);
      if (error instanceof StatusError && error.code === 409 && this.mode === 'write') throw this.busy(error);
      if (!lost && !unready) throw error;
      this.tell(`No connection yet (${error.message}). Trying again …`);
      await this.pauseBefore(error.message);
      return undefined;
    }
  }

  private busy(error: StatusError): CommandError {
    return new CommandError(
      `${error.message}. Watch with --read-only, or take the console over with --force.`,
      { cause: error },
    );
  }

  private async use(socket: WebSocket, target: { uid: string; name: string }): Promise<'left' | 'lost'> {
    const { terminal, signal } = this.context;
    const again = this.uid !== undefined;
    const what =
      again && this.uid !== target.uid ? 'It was restarted. Connected' : again ? 'Reconnected' : 'Connected';
    say(terminal, `${what} to the console of ${this.name}. Ctrl+] leaves it.`);
    this.uid = target.uid;
    this.told = '';
    // Whoever takes over from us later keeps the console.
    if (this.mode === 'force') this.mode = 'write';
    return relay(socket, terminal, { readOnly: this.mode === 'read', signal });
  }

  private tell(text: string): void {
    if (text === this.told) return;
    this.told = text;
    say(this.context.terminal, text);
  }

  private async pauseBefore(reason: string): Promise<void> {
    if (this.now() + retryDelay > this.deadline) {
      throw new CommandError(`gave up after ${this.options.timeout / 1000} s: ${reason}`);
    }
    await pause(retryDelay, this.context.signal);
  }
}
