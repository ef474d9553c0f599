/**
 * Connections to a vsock port of a guest. Node has no AF_VSOCK, so socat makes them: one process a connection, gone with it.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { Refusal } from './refusal.js';

/** PEM. */
export interface VsockCredentials {
  readonly cert: string;
  readonly key: string;
}

export interface VsockAddress {
  readonly cid: number;
  readonly port: number;
  /** What a guest that wants TLS knows its host by; undefined for no TLS. */
  readonly credentials: VsockCredentials | undefined;
}

const connectTimeoutSeconds = 10;

/** Rejects with `Refusal`, or the signal's reason. */
export async function connectVsock(address: VsockAddress, signal: AbortSignal): Promise<Duplex> {
  const { cid, port, credentials } = address;
  const target = `VSOCK-CONNECT:${cid}:${port},connect-timeout=${connectTimeoutSeconds}`;
  const child = spawn('socat', ['-d', '-d', '-', target], { stdio: ['pipe', 'pipe', 'pipe'] });
  await connected(child, address, signal);
  const stream = new ChildStream(child);
  return credentials === undefined ? stream : secured(stream, credentials, address);
}

/** A process's standard input and output; destroyed, it ends the process. */
class ChildStream extends Duplex {
  constructor(private readonly child: ChildProcessWithoutNullStreams) {
    super();
    child.stdout.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) child.stdout.pause();
    });
    child.stdout.once('end', () => this.push(null));
    child.stdin.on('error', () => this.destroy());
  }

  override _read(): void {
    this.child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.child.stdin.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.child.stdin.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.child.kill();
    done(error);
  }
}

/** socat tells what it does on its standard error. */
function connected(
  child: ChildProcessWithoutNullStreams,
  { cid, port }: VsockAddress,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const settle = (): void => {
      signal.removeEventListener('abort', abort);
      child.off('exit', exited).off('error', failed);
      // Keeps a failure that follows from being thrown, and the pipe from filling.
      child.on('error', () => undefined);
      child.stderr.off('data', listen).resume();
    };
    const abort = (): void => {
      settle();
      child.kill();
      reject(signal.reason as Error);
    };
    const refuse = (why: string): void => {
      settle();
      reject(new Refusal('ServiceUnavailable', `vsock port ${port} of context ${cid}: ${why}`));
    };
    const failed = (error: NodeJS.ErrnoException): void => {
      refuse(error.code === 'ENOENT' ? 'the node has no socat: install the package socat' : error.message);
    };
    const exited = (): void => {
      refuse(/E (?:connect\([^)]*\): )?(.*)/.exec(said)?.[1] ?? 'the connection was refused');
    };
    const listen = (chunk: Buffer): void => {
      said = (said + chunk.toString()).slice(-4096);
      if (!said.includes('starting data transfer loop')) return;
      settle();
      resolve();
    };
    child.stderr.on('data', listen);
    child.once('exit', exited).once('error', failed);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

/**
 * The guest gets to know its host by the certificate. What the guest shows proves nothing more than the context id does,
 * which the kernel vouches for.
 */
function secured(stream: Duplex, { cert, key }: VsockCredentials, { port }: VsockAddress): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ socket: stream, cert, key, rejectUnauthorized: false });
    const fail = (cause: Error): void => {
      stream.destroy();
      reject(
        new Refusal('ServiceUnavailable', `vsock port ${port} speaks no TLS: ${cause.message}`, { cause }),
      );
    };
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
