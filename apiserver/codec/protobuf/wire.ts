/** The wire format of protocol buffers: tagged values, of which this reads those that Kubernetes' messages use. */

/** The bytes are no message, or one that ends too early. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** A value with its field number. Lengths of time and the like are varints; everything else is bytes. */
export type WireField =
  | { readonly number: number; readonly type: 'varint'; readonly value: bigint }
  | { readonly number: number; readonly type: 'bytes'; readonly value: Uint8Array };

const longestVarint = 10;

class Reader {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let i = 0; i < longestVarint; i++) {
      const byte = this.bytes[this.#at++];
      if (byte === undefined) throw new WireError('the message ends within a number');
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError('a number has too many bytes');
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (!Number.isSafeInteger(length) || end > this.bytes.length) {
      throw new WireError('the message ends within a field');
    }
    const taken = this.bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

/** The fields of a message, in the order in which they were written. Fixed-size numbers, which no message here has, are skipped. */
export function* readFields(bytes: Uint8Array): Generator<WireField> {
  const reader = new Reader(bytes);
  while (!reader.done) {
    const tag = reader.varint();
    const number = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, type: 'varint', value: reader.varint() };
        break;
      case 1:
        reader.take(8);
        break;
      case 2:
        yield { number, type: 'bytes', value: reader.take(Number(reader.varint())) };
        break;
      case 5:
        reader.take(4);
        break;
      default:
        throw new WireError(`a field has the wire type ${Number(tag & 7n)}, which is not in use`);
    }
  }
}
