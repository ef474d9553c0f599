/** A connection to a port of a guest, through the API server. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { CommandContext } from './command.js';
import type { MachineReference } from './machine.js';
import { bytesOf } from './relay.js';
import { openStream } from './websocket.js';

export type Protocol = 'tcp' | 'udp';

export interface Tunnel {
  readonly namespace: string;
  readonly machine: MachineReference;
  readonly port: number;
  readonly protocol: Protocol;
}

/** Above so many unsent bytes, the local end waits. */
const highWaterMark = 256 * 1024;
/** Websockets have no half-closed state: a client that has sent all gets what still comes until this long after the last of it. */
const lingerTime = 1000;
/** Some hops drop connections that are quiet for 20 s. Milliseconds. */
const pingInterval = 10_000;

/** Open and paused. Instances have the name of their machine, and KubeVirt too has this subresource for both. */
export function openTunnel(
  { connection, signal }: Pick<CommandContext, 'connection' | 'signal'>,
  { namespace, machine, port, protocol }: Tunnel,
): Promise<WebSocket> {
  const resource = machine.type === 'vm' ? 'virtualmachines' : 'virtualmachineinstances';
  const stream = `portforward/${port}/${protocol}`;
  return openStream(connection, { namespace, resource, name: machine.name, stream }, signal);
}

/** Pings; a peer that does not answer is given up. The result ends that. */
export function keepAlive(socket: WebSocket): () => void {
  let answered = true;
  socket.on('pong', () => (answered = true));
  const timer = setInterval(() => {
    // One whose reading is held up by back pressure can not be heard.
    if (!answered && !socket.isPaused) socket.terminate();
    answered = false;
    socket.ping();
  }, pingInterval);
  return () => {
    clearInterval(timer);
  };
}

/** Bytes both ways, at the pace of the slower end, until either is done. Resolves then. */
export function relayBytes(socket: WebSocket, local: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const stopPinging = keepAlive(socket);
    let lingering: NodeJS.Timeout | undefined;
    socket.on('message', (data) => {
      lingering?.refresh();
      if (local.writable && !local.write(bytesOf(data))) socket.pause();
    });
    local.on('drain', () => {
      socket.resume();
    });
    local.on('data', (chunk: Buffer) => {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(chunk, { binary: true }, () => {
        if (local.isPaused() && socket.bufferedAmount < highWaterMark) local.resume();
      });
      if (socket.bufferedAmount >= highWaterMark) local.pause();
    });
    const leave = (): void => {
      // Paused, it would not see the answer to its closing frame.
      socket.resume();
      socket.close(1000);
    };
    local.once('end', () => {
      lingering = setTimeout(leave, lingerTime);
    });
    local.on('close', leave).on('error', leave);
    socket.once('close', () => {
      stopPinging();
      clearTimeout(lingering);
      local.end(() => {
        local.destroy();
        resolve();
      });
      if (local.destroyed) resolve();
    });
    socket.resume();
    local.resume();
  });
}
