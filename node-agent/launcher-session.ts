/** The lasting connection to one launcher: its newest status, and whether it still lives. */
import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import { interfacesOf } from '../openapi/launcher/interfaces.js';
import type { DomainStatus, LauncherMethods } from '../openapi/launcher/protocol.js';
import type { MachineSettings } from '../openapi/launcher/settings.js';
import type { MachineStatistics } from '../openapi/launcher/statistics.js';
import { sleep, type Clock } from '../controllers/runtime/clock.js';
import type { Logger } from '../controllers/runtime/logger.js';
import { errorCode } from './files.js';
import { LauncherError, type LauncherClient } from './launcher-client.js';
import { connectLauncher } from './launcher-connect.js';
import type { LauncherDirectory } from './launcher-directory.js';
import { linkSignals } from './signals.js';
import { LauncherConnectionError } from './unix-socket.js';

export type SessionView =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly status: DomainStatus }
  /** The launcher is gone. `status` is its last word, final or not; undefined if it left none. */
  | { readonly kind: 'ended'; readonly status: DomainStatus | undefined };

/** What the node has made for a launcher's machine. */
export type NodePart = Omit<LauncherMethods['start']['params'], 'vmi' | 'settings'>;

export interface LauncherSessionOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Something of the session has changed. Called synchronously. */
  readonly onChange: () => void;
}

const minimumDelay = 20;
const maximumDelay = 1000;
/** `start` makes disks; its answer may wait for that. */
const callTimeout = 10 * 60 * 1000;

export class LauncherSession {
  private current: SessionView = { kind: 'connecting' };
  private client: LauncherClient | undefined;
  private starting = false;
  private refusal: LauncherError | undefined;
  private sentGrace = Number.POSITIVE_INFINITY;
  /** By interface, whether it was told to be up. */
  private readonly links = new Map<string, boolean>();
  private readonly closing = new AbortController();
  readonly done: Promise<void>;

  constructor(
    private readonly directory: LauncherDirectory,
    private readonly options: LauncherSessionOptions,
  ) {
    this.done = this.follow().catch((error: unknown) => {
      if (!this.closing.signal.aborted) options.logger.error({ err: error }, 'a launcher session failed');
    });
  }

  get view(): SessionView {
    return this.current;
  }

  /** Why the launcher would not start the VMI. */
  get startRefusal(): LauncherError | undefined {
    return this.refusal;
  }

  /** Sends the VMI, once for each connection. `node`: what the node has made for it. */
  start(vmi: VirtualMachineInstance, settings: MachineSettings, node: NodePart = {}): void {
    const { client } = this;
    if (this.starting || client === undefined) return;
    this.starting = true;
    client.call('start', { ...node, vmi, settings }, this.closing.signal).then(
      (status) => {
        this.newStatus(status);
      },
      (error: unknown) => {
        this.starting = false;
        if (error instanceof LauncherError) this.refusal = error;
        else client.close();
        this.options.onChange();
      },
    );
  }

  /** Cuts and joins the cables of a running guest as its spec says. What the launcher was told already is not said again. */
  setLinks(vmi: VirtualMachineInstance): void {
    const { client } = this;
    if (client === undefined) return;
    for (const { name, state, sriov } of interfacesOf(vmi)) {
      const up = state !== 'down';
      const known = this.links.get(name) ?? (state === undefined ? up : undefined);
      if (sriov !== undefined || known === up) continue;
      this.links.set(name, up);
      client.call('setLink', { name, up }, this.closing.signal).catch((error: unknown) => {
        if (this.closing.signal.aborted) return;
        this.links.delete(name);
        this.options.logger.warn({ err: error, interface: name }, 'a launcher did not set a link');
      });
    }
  }

  /** Asks the guest to end. Returns false if that was asked already with a grace period as short. */
  shutdown(gracePeriodSeconds: number): boolean {
    const { client } = this;
    if (client === undefined || gracePeriodSeconds >= this.sentGrace) return false;
    this.sentGrace = gracePeriodSeconds;
    client.call('shutdown', { gracePeriodSeconds }, this.closing.signal).then(
      (status) => {
        this.newStatus(status);
      },
      (error: unknown) => {
        if (this.closing.signal.aborted) return;
        this.sentGrace = Number.POSITIVE_INFINITY;
        this.options.logger.warn({ err: error }, 'a launcher refused to shut down');
        client.close();
      },
    );
    return true;
  }

  /** Undefined while it is not connected. Rejects with the launcher's refusal, or when it does not answer. */
  async statistics(signal: AbortSignal): Promise<MachineStatistics | undefined> {
    return await this.client?.call('statistics', undefined, signal);
  }

  /** Leaves the launcher as it is. */
  close(): void {
    this.closing.abort();
    this.client?.close();
  }

  private newStatus(status: DomainStatus): void {
    if (this.current.kind === 'ended') return;
    if (this.current.kind === 'connected' && this.current.status.sequence >= status.sequence) return;
    this.current = { kind: 'connected', status };
    this.options.onChange();
  }

  private async follow(): Promise<void> {
    const { clock } = this.options;
    const { signal } = this.closing;
    let delay = minimumDelay;
    for (;;) {
      if (await this.subscribe(delay)) delay = minimumDelay;
      if (signal.aborted) return;
      const final = await this.directory.finalStatus();
      if (final !== undefined || !(await this.directory.isLauncherAlive())) {
        // Read last: the launcher may have written it between the two questions.
        this.current = { kind: 'ended', status: await this.directory.lastStatus() };
        this.options.onChange();
        return;
      }
      await sleep(clock, delay, signal);
      delay = Math.min(delay * 2, maximumDelay);
    }
  }

  /** Follows one connection to its end. False if there was none within `patience` milliseconds. */
  private async subscribe(patience: number): Promise<boolean> {
    const client = await this.connect(patience);
    if (client === undefined) return false;
    this.client = client;
    this.starting = false;
    this.sentGrace = Number.POSITIVE_INFINITY;
    try {
      // A launcher that was restarted in between counts from the start again.
      this.current = { kind: 'connecting' };
      this.newStatus(await client.subscribe((status) => this.newStatus(status), this.closing.signal));
      await client.closed;
    } catch (error) {
      if (!(error instanceof LauncherConnectionError) && !this.closing.signal.aborted) throw error;
    } finally {
      client.close();
      this.client = undefined;
    }
    return true;
  }

  private async connect(patience: number): Promise<LauncherClient | undefined> {
    const { clock } = this.options;
    const timeout = new AbortController();
    const cancel = clock.timer(patience, () => {
      timeout.abort();
    });
    const link = linkSignals(this.closing.signal, timeout.signal);
    try {
      return await connectLauncher(this.directory, clock, link.signal, callTimeout);
    } catch (error) {
      if (link.signal.aborted || errorCode(error) === 'ENOENT') return undefined;
      throw error;
    } finally {
      cancel();
      link.dispose();
    }
  }
}
