import type { Socket } from 'node:net';

/** Frames of datagrams on a byte stream: two bytes of length, big endian, then the payload. */
const headerBytes = 2;
export const largestDatagram = 0xffff;
/** A client that does not read loses datagrams, as UDP does, rather than have them kept. */
const maxUnreadBytes = 1 << 20;

export function frame(datagram: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(datagram.length);
  return Buffer.concat([header, datagram]);
}

/** Cuts a byte stream into the datagrams that were framed. */
export class DatagramReader {
  private buffer: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer[] {
    this.buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk]);
    const datagrams: Buffer[] = [];
    for (;;) {
      if (this.buffer.length < headerBytes) return datagrams;
      const end = headerBytes + this.buffer.readUInt16BE();
      if (this.buffer.length < end) return datagrams;
      datagrams.push(this.buffer.subarray(headerBytes, end));
      this.buffer = this.buffer.subarray(end);
    }
  }
}

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
    const guest = createSocket('udp4');
    client.once('close', () => guest.close());
    guest.on('error', () => client.destroy());
    guest.on('message', (datagram) => {
      if (client.writable && client.writableLength < maxUnreadBytes) client.write(frame(datagram));
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
