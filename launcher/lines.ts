const newline = 0x0a;

/** Cuts a byte stream into lines, whatever the chunks; QMP, the guest agent and the control socket all speak in lines. */
export class LineSplitter {
  private buffer: Buffer = Buffer.alloc(0);
  /** Bytes of the buffer that are known to hold no line end. */
  private searched = 0;

  /** @param maxLineBytes a longer line is an error: its sender is broken or hostile. */
  constructor(private readonly maxLineBytes: number) {}

  /**
   * Complete lines of what has come so far, without their line ends; empty lines are left out. The caller may stop
   * between two lines and take the `rest`.
   */
  *push(chunk: Buffer): Generator<string, void, void> {
    this.buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk]);
    for (;;) {
      const end = this.buffer.indexOf(newline, this.searched);
      const length = end < 0 ? this.buffer.length : end;
      if (length > this.maxLineBytes)
        throw new RangeError(`a line is longer than ${this.maxLineBytes} bytes`);
      if (end < 0) break;
      const line = this.buffer.toString('utf8', 0, end).trim();
      this.buffer = this.buffer.subarray(end + 1);
      this.searched = 0;
      if (line !== '') yield line;
    }
    this.searched = this.buffer.length;
  }

  /** Takes the bytes after the last line that was read, for whoever goes on reading raw. */
  rest(): Buffer {
    const rest = this.buffer;
    this.clear();
    return rest;
  }

  clear(): void {
    this.buffer = Buffer.alloc(0);
    this.searched = 0;
  }
}
