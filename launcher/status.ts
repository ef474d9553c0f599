import { closeSync, ftruncateSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { podLayout, type DomainStatus } from '../openapi/launcher/protocol.js';
import type { Logger } from './log.js';

export type StatusListener = (status: DomainStatus) => void;

/** The domain's status: in memory, in status.json, and told to whoever listens. */
export class StatusStore {
  private readonly listeners = new Set<StatusListener>();
  private status: DomainStatus;

  constructor(
    uid: string | undefined,
    private readonly logger: Logger,
    private readonly path: string = podLayout.status,
  ) {
    this.status = {
      sequence: 0,
      state: 'Waiting',
      reason: 'Waiting',
      message: 'The launcher waits for the virtual machine instance.',
      uid,
      qemuPid: undefined,
      accelerator: undefined,
      machineType: undefined,
      qemuVersion: undefined,
      guestAgentConnected: false,
      guest: undefined,
    };
    this.write();
  }

  get current(): DomainStatus {
    return this.status;
  }

  update(change: Partial<Omit<DomainStatus, 'sequence' | 'uid'>>): void {
    this.status = { ...this.status, ...change, sequence: this.status.sequence + 1 };
    this.write();
    for (const listener of this.listeners) listener(this.status);
  }

  /** Calls `listener` on every change; the returned function ends that. */
  subscribe(listener: StatusListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private write(): void {
    const text = `${JSON.stringify(this.status)}\n`;
    try {
      const temporary = `${this.path}.part`;
      writeFileSync(temporary, text, { mode: 0o600 });
      renameSync(temporary, this.path);
    } catch (error) {
      this.logger.error('status.json could not be replaced', { error: String(error) });
      this.overwrite(text);
    }
  }

  /** On a full disk there is still the room of the last status: better not atomic than not at all. */
  private overwrite(text: string): void {
    try {
      const descriptor = openSync(this.path, 'r+');
      try {
        writeSync(descriptor, text, 0);
        ftruncateSync(descriptor, Buffer.byteLength(text));
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      // The guest goes on, and whoever is connected gets the status.
      this.logger.error('status.json could not be written', { error: String(error) });
    }
  }
}
