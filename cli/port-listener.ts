/** Local sockets whose every client gets a stream of its own. */
import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import { isIPv6 } from 'node:net';
import type { WebSocket } from 'ws';
import { bytesOf } from './relay.js';
import { keepAlive, relayBytes } from './tunnel.js';

export interface Listener {
  readonly port: number;
  /** Ends its streams, too. */
  close(): void;
}

export interface ListenOptions {
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** The stream for a client that has come. */
  readonly open: () => Promise<WebSocket>;
  /** A client whose stream could not be opened. */
  readonly failed: (error: Error) => void;
}

/** A client of a UDP port that is silent for so long is forgotten. Milliseconds. */
const idleTimeout = 60_000;
/** Datagrams that may wait for a stream that is being opened. */
const maxWaiting = 64;

export async function listenTcp({ address, port, open, failed }: ListenOptions): Promise<Listener> {
  const clients = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (client) => {
    clients.add(client);
    client.on('error', () => client.destroy());
    client.once('close', () => clients.delete(client));
    open()
      .then((socket) => relayBytes(socket, client))
      .catch((error: unknown) => {
        client.destroy();
        failed(error instanceof Error ? error : new Error(String(error)));
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

interface Peer {
  readonly waiting: Buffer[];
  socket: WebSocket | undefined;
  idle: NodeJS.Timeout | undefined;
}

export async function listenUdp({ address, port, open, failed }: ListenOptions): Promise<Listener> {
  const server = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  const peers = new Map<string, Peer>();
  const forget = (key: string, peer: Peer): void => {
    clearTimeout(peer.idle);
    peer.socket?.close(1000);
    if (peers.get(key) === peer) peers.delete(key);
  };
  const connect = async (key: string, peer: Peer, reply: (datagram: Buffer) => void): Promise<void> => {
    const socket = await open();
    peer.socket = socket;
    const stopPinging = keepAlive(socket);
    socket.on('message', (data) => {
      reply(bytesOf(data));
    });
    socket.once('close', () => {
      stopPinging();
      forget(key, peer);
    });
    socket.resume();
    for (const datagram of peer.waiting.splice(0)) socket.send(datagram);
  };
  server.on('message', (datagram, from) => {
    const key = `${from.address} ${from.port}`;
    const peer = peers.get(key) ?? { waiting: [], socket: undefined, idle: undefined };
    clearTimeout(peer.idle);
    peer.idle = setTimeout(() => {
      forget(key, peer);
    }, idleTimeout);
    if (peer.socket !== undefined) peer.socket.send(datagram);
    else if (peer.waiting.length < maxWaiting) peer.waiting.push(datagram);
    if (peers.has(key)) return;
    peers.set(key, peer);
    connect(key, peer, (answer) => {
      server.send(answer, from.port, from.address);
    }).catch((error: unknown) => {
      forget(key, peer);
      failed(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.bind(port, address, resolve);
  });
  return {
    port: server.address().port,
    close: () => {
      server.close();
      for (const [key, peer] of peers) forget(key, peer);
    },
  };
}
