import { chmodSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Connection, type ConnectionOptions } from './connection.js';

export interface ControlServer {
  /** Stops listening and ends all connections. */
  close(): void;
}

/** @throws Error when another launcher answers on the socket. */
export async function refuseSecond(path: string): Promise<void> {
  if (await answers(path)) throw new Error(`another launcher runs in this pod directory: ${path} is in use`);
}

/**
 * Listens on a unix socket for clients. The socket gets its name, and takes the place of one that a dead launcher has left,
 * only when it listens: whoever sees it can connect.
 */
export async function serveControl(path: string, options: ConnectionOptions): Promise<ControlServer> {
  const temporary = `${path}.part`;
  rmSync(temporary, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new Connection(socket, options);
  });
  await listen(server, temporary);
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
  return {
    close: () => {
      rmSync(path, { force: true });
      server.close();
      for (const socket of sockets) socket.destroySoon();
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    const tell = (answer: boolean) => {
      probe.destroy();
      resolve(answer);
    };
    probe.once('connect', () => tell(true));
    probe.once('error', () => tell(false));
  });
}
