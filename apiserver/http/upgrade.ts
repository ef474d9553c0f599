/** Connections that ask to leave HTTP. Until they do, they are answered by an ordinary response. */
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from '../subresources/interface.js';
import { Exchange, type UpgradeSocket } from './exchange.js';

/** node hands over the bare socket; this gives it a response, whose connection closes behind it. */
export function upgradeExchange(request: IncomingMessage, socket: Socket, head: Buffer): Exchange {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // Without a listener, a connection that breaks would bring the process down.
  socket.on('error', () => socket.destroy());
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.destroySoon();
    response.emit('close');
  });
  return new Exchange(request, response, { socket, head });
}

/** Resolves when the stream is over. */
export async function switchProtocols(
  exchange: Exchange,
  upgrade: UpgradeSocket,
  connection: Connection,
): Promise<void> {
  const { response, request } = exchange;
  exchange.switched = true;
  response.detachSocket(upgrade.socket);
  try {
    await connection.accept(request, upgrade);
  } finally {
    upgrade.socket.destroy();
    response.emit('close');
  }
}
