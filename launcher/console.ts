import type { Socket } from 'node:net';
import { systemClock, type Clock } from './clock.js';
import { Scrollback } from './scrollback.js';

export type ConsoleMode = 'write' | 'read' | 'force' | 'history';

export interface ConsoleOptions {
  readonly clock?: Clock;
  /** Bytes that a new reader gets first. */
  readonly scrollback?: number;
  /** Bytes that may wait for one reader before the guest waits for it, or it is dropped. */
  readonly backlog?: number;
  /** Gets everything the guest says, besides the readers. */
  readonly record?: (chunk: Buffer) => void;
}

/** A client that is being closed gets this long to take what waits for it. */
const farewellMs = 5000;
/** So long a guest waits for the one who reads its console. */
const patienceMs = 5000;

const message = (text: string) => `\r\n[${text}]\r\n`;
const takenOver = message('another session has taken over this console');
const tooSlow = message('this session was too slow for the console and was closed');

/**
 * One serial console for many. Everyone reads; one writes. The writer, or who reads alone, loses nothing: a guest that talks
 * faster than he reads waits for him, for a while. Other readers never hold the guest: one who does not keep up is dropped.
 */
export class Console {
  private readonly clock: Clock;
  private readonly scrollback: Scrollback;
  private readonly backlog: number;
  private readonly clients = new Set<Socket>();
  /** Clients that the guest waits for, each with what ends its patience. */
  private readonly awaited = new Map<Socket, () => void>();
  private writer: Socket | undefined;
  private serial: Socket | undefined;
  private record: ((chunk: Buffer) => void) | undefined;
  private recorded: (() => Buffer) | undefined;

  constructor(options: ConsoleOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.scrollback = new Scrollback(options.scrollback ?? 64 << 10);
    this.backlog = options.backlog ?? 1 << 20;
    this.record = options.record;
  }

  /** Whether `mode` can be had now. */
  available(mode: ConsoleMode): boolean {
    return mode !== 'write' || this.writer === undefined;
  }

  /** @param recorded what has been recorded so far */
  recordTo(record: (chunk: Buffer) => void, recorded: () => Buffer): void {
    this.record = record;
    this.recorded = recorded;
  }

  /** The guest's serial port has come. */
  connect(serial: Socket): void {
    this.serial = serial;
    serial.on('data', (chunk: Buffer) => this.output(chunk));
    serial.on('drain', () => this.writer?.resume());
    serial.on('error', () => serial.destroy());
    serial.on('close', () => this.end());
  }

  /**
   * Gives a client the console. `typed` is what it has sent already.
   * @returns whether it may write
   */
  attach(client: Socket, mode: ConsoleMode, typed: Buffer): boolean {
    if (!this.available(mode)) throw new RangeError('the console has a writer already');
    if (mode === 'force' && this.writer) this.dismiss(this.writer, takenOver);
    if (mode === 'history') {
      this.tellHistory(client);
      return false;
    }
    const writes = mode !== 'read';
    if (writes) this.writer = client;
    this.clients.add(client);
    client.write(this.scrollback.content());
    client.on('data', (chunk: Buffer) => this.input(client, chunk));
    client.on('error', () => client.destroy());
    client.on('end', () => client.end());
    client.on('close', () => this.forget(client));
    this.input(client, typed);
    client.resume();
    return writes;
  }

  /** The guest is gone: everybody gets what is left to read, and the end. */
  end(): void {
    this.serial = undefined;
    for (const client of [...this.clients]) this.dismiss(client, '');
  }

  private tellHistory(client: Socket): void {
    client.on('error', () => client.destroy());
    client.end(this.recorded?.() ?? this.scrollback.content());
    client.resume();
  }

  private output(chunk: Buffer): void {
    this.scrollback.append(chunk);
    this.record?.(chunk);
    for (const client of this.clients) {
      client.write(chunk);
      if (client.writableLength <= this.backlog) continue;
      if (client === this.writer || this.clients.size === 1) this.await(client);
      else this.dismiss(client, tooSlow);
    }
  }

  private await(client: Socket): void {
    if (this.awaited.has(client)) return;
    this.serial?.pause();
    const goOn = () => this.goOn(client);
    client.once('drain', goOn);
    const cancel = this.clock.after(patienceMs, () => this.dismiss(client, tooSlow));
    this.awaited.set(client, () => {
      client.off('drain', goOn);
      cancel();
    });
  }

  /** The client has caught up, or has gone. */
  private goOn(client: Socket): void {
    const settle = this.awaited.get(client);
    if (!settle) return;
    settle();
    this.awaited.delete(client);
    if (this.awaited.size === 0) this.serial?.resume();
  }

  private input(client: Socket, chunk: Buffer): void {
    if (client !== this.writer || chunk.length === 0 || !this.serial?.writable) return;
    // A guest that does not read holds its writer back, and nobody else.
    if (!this.serial.write(chunk)) client.pause();
  }

  private dismiss(client: Socket, farewell: string): void {
    this.forget(client);
    client.end(farewell);
    client.resume();
    const cancel = this.clock.after(farewellMs, () => client.destroy());
    client.once('close', cancel);
  }

  private forget(client: Socket): void {
    this.clients.delete(client);
    this.goOn(client);
    if (this.writer === client) this.writer = undefined;
  }
}
