import { isIPv6, type Socket } from 'node:net';
import { DatagramReader, frameDatagram } from '../openapi/launcher/datagrams.js';

/** A client that does not read loses datagrams, as UDP does, rather than have them kept. */
const maxUnreadBytes = 1 << 20;

export interface DatagramPeer {
  readonly host: string;
  readonly port: number;
}

/** Relays framed datagrams between a client and a UDP peer until the client closes; `ended` is called then. */
export function relayDatagrams(
  client: Socket,
  received: Buffer,
  peer: DatagramPeer,
  ended: () => void,
): void {
  const reader = new DatagramReader();
  client.pause();
  client.on('error', () => client.destroy());
  client.once('close', ended);
  // Loaded by the few launchers that need it.
  void import('node:dgram').then(({ createSocket }) => {
    if (client.destroyed) return;
    const guest = createSocket(isIPv6(peer.host) ? 'udp6' : 'udp4');
    client.once('close', () => guest.close());
    guest.on('error', () => client.destroy());
    guest.on('message', (datagram) => {
      if (client.writable && client.writableLength < maxUnreadBytes) client.write(frameDatagram(datagram));
    });
    guest.connect(peer.port, peer.host, () => {
      const send = (chunk: Buffer) => {
        for (const datagram of reader.push(chunk)) guest.send(datagram);
      };
      send(received);
      client.on('data', send);
      client.resume();
    });
  });
}
