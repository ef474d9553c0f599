/** Datagrams on a byte stream, as `portForward` carries them: two bytes of length, big endian, then the payload. */
const headerBytes = 2;

/** @throws RangeError for more than a datagram can hold */
export function frameDatagram(datagram: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(datagram.length);
  return Buffer.concat([header, datagram]);
}

export class DatagramReader {
  private buffer: Buffer = Buffer.alloc(0);

  /** The datagrams that are complete; the rest is kept. */
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
