/** The last bytes of a stream, in one buffer that never grows. */
export class Scrollback {
  private readonly ring: Buffer;
  private end = 0;
  private filled = 0;

  constructor(readonly capacity: number) {
    this.ring = Buffer.allocUnsafe(capacity);
  }

  append(chunk: Buffer): void {
    const tail = chunk.subarray(Math.max(0, chunk.length - this.capacity));
    const first = Math.min(tail.length, this.capacity - this.end);
    tail.copy(this.ring, this.end, 0, first);
    tail.copy(this.ring, 0, first);
    this.end = (this.end + tail.length) % this.capacity;
    this.filled = Math.min(this.capacity, this.filled + tail.length);
  }

  /** A copy, oldest byte first. */
  content(): Buffer {
    const start = (this.end - this.filled + this.capacity) % this.capacity;
    const first = this.ring.subarray(start, Math.min(this.capacity, start + this.filled));
    return Buffer.concat([first, this.ring.subarray(0, this.filled - first.length)]);
  }
}
