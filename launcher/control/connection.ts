import type { Socket } from 'node:net';
import type { DomainStatus } from '../../openapi/launcher/protocol.js';
import { asError } from '../clock.js';
import { LineSplitter } from '../lines.js';
import { isObject } from '../qmp/messages.js';
import type { StatusStore } from '../status.js';
import { ControlError, toJsonRpcError } from './errors.js';
import { join } from '../port-forward.js';
import { callMethod, consoleFor, portForwardFor, type ControlTarget } from './methods.js';

/** A VMI is at most a request body of the API, 3 MiB. */
const maxLineBytes = 4 << 20;
/** A subscriber that does not read is dropped rather than kept in memory. */
const maxUnreadBytes = 4 << 20;

export interface ConnectionOptions {
  readonly target: ControlTarget;
  readonly status: StatusStore;
  /** Called when a status has reached the socket of a client. */
  readonly onStatusSent: (status: DomainStatus) => void;
}

/** One client of the control socket: JSON-RPC in lines, until it asks for the console or a port. */
export class Connection {
  private readonly lines = new LineSplitter(maxLineBytes);
  private readonly onData = (chunk: Buffer) => this.receive(chunk);
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly options: ConnectionOptions,
  ) {
    socket.on('data', this.onData);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.unsubscribe?.());
  }

  private receive(chunk: Buffer): void {
    try {
      for (const line of this.lines.push(chunk)) if (this.handle(line) === 'raw') return;
    } catch (error) {
      this.socket.off('data', this.onData);
      this.send({ id: null, error: toJsonRpcError(new ControlError('parseError', asError(error).message)) });
      this.socket.destroySoon();
    }
  }

  private handle(line: string): 'raw' | 'json' {
    const request = parseRequest(line);
    if (!request) {
      this.send({
        id: null,
        error: toJsonRpcError(new ControlError('parseError', 'not a JSON-RPC request')),
      });
      return 'json';
    }
    const { id, method, params } = request;
    if (method === 'console') return this.openConsole(id, params);
    if (method === 'portForward') {
      void this.openPort(id, params);
      return 'raw';
    }
    if (method === 'subscribe') this.subscribe(id);
    else void this.answer(id, callMethod(this.options.target, method, params));
    return 'json';
  }

  private async answer(id: unknown, result: Promise<unknown>): Promise<void> {
    try {
      const value = await result;
      // `status` must leave a result even when the agent has told nothing.
      this.send({ id, result: value ?? null });
    } catch (error) {
      this.send({ id, error: toJsonRpcError(error) });
    }
  }

  private subscribe(id: unknown): void {
    const { status } = this.options;
    this.send({ id, result: status.current });
    this.notify(status.current);
    this.unsubscribe ??= status.subscribe((changed) => this.notify(changed));
  }

  private notify(status: DomainStatus): void {
    this.send({ method: 'statusChanged', params: status });
  }

  private openConsole(id: unknown, params: unknown): 'raw' | 'json' {
    try {
      const { console, mode } = consoleFor(this.options.target, params);
      this.unsubscribe?.();
      this.socket.off('data', this.onData);
      this.send({ id, result: { writer: mode === 'write' || mode === 'force' } });
      console.attach(this.socket, mode, this.lines.rest());
      return 'raw';
    } catch (error) {
      this.send({ id, error: toJsonRpcError(error) });
      return 'json';
    }
  }

  /** A connection that gets no port ends: nobody knows whether what follows is JSON. */
  private async openPort(id: unknown, params: unknown): Promise<void> {
    this.unsubscribe?.();
    this.socket.off('data', this.onData);
    this.socket.pause();
    const received = this.lines.rest();
    try {
      const { ports, port, protocol } = portForwardFor(this.options.target, params);
      const attach =
        protocol === 'tcp' ? joinTo(await ports.connectStream(port)) : await ports.connectDatagrams(port);
      this.send({ id, result: null });
      attach(this.socket, received);
    } catch (error) {
      this.send({ id, error: toJsonRpcError(error) });
      this.socket.destroySoon();
    }
  }

  private send(message: object): void {
    const told = statusOf(message);
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`, (error) => {
      if (!error && told) this.options.onStatusSent(told);
    });
    if (this.socket.writableLength > maxUnreadBytes) this.socket.destroy();
  }
}

function joinTo(guest: Socket): (client: Socket, received: Buffer) => void {
  return (client, received) => {
    if (client.destroyed) guest.destroy();
    else join(client, received, guest);
  };
}

function statusOf(message: object): DomainStatus | undefined {
  const payload: unknown =
    'result' in message ? message.result : 'params' in message ? message.params : undefined;
  return isStatus(payload) ? payload : undefined;
}

function isStatus(value: unknown): value is DomainStatus {
  return isObject(value) && typeof value['sequence'] === 'number' && typeof value['state'] === 'string';
}

interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
}

function parseRequest(line: string): Request | undefined {
  try {
    const message: unknown = JSON.parse(line);
    if (!isObject(message) || typeof message['method'] !== 'string') return undefined;
    return { id: message['id'] ?? null, method: message['method'], params: message['params'] };
  } catch {
    return undefined;
  }
}
