import { chmodSync, rmSync } from 'node:fs';
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

/** Listens on a unix socket for clients; one that a dead launcher has left is replaced. */
export async function serveControl(path: string, options: ConnectionOptions): Promise<ControlServer> {
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new Connection(socket, options);
  });
  await listen(server, path);
  chmodSync(path, 0o600);
  return {
    close: () => {
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
