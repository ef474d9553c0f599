/** The wire format of protocol buffers: tagged values, of which this reads those that Kubernetes' messages use. */

/** The bytes are no message, or one that ends too early. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** A value with its field number. Numbers and truths are varints, read as signed; everything else is bytes. */
export type WireField =
  | { readonly number: number; readonly type: 'varint'; readonly value: number }
  | { readonly number: number; readonly type: 'bytes'; readonly value: Uint8Array };

const longestVarint = 10;
/** So many bytes of a varint hold a number that a double holds exactly. */
const exactVarint = 7;

class Reader {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.bytes.length;
  }

  varint(): number {
    const start = this.#at;
    let value = 0;
    for (let i = 0; i < exactVarint; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    this.#at = start;
    return this.#longVarint();
  }

  #longVarint(): number {
    let value = 0n;
    for (let i = 0; i < longestVarint; i++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
    throw new WireError('a number has too many bytes');
  }

  #byte(): number {
    const byte = this.bytes[this.#at++];
    if (byte === undefined) throw new WireError('the message ends within a number');
    return byte;
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (length < 0 || end > this.bytes.length) throw new WireError('the message ends within a field');
    const taken = this.bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

/** The varints of a list that is packed into one field. */
export function* readPacked(bytes: Uint8Array): Generator<number> {
  const reader = new Reader(bytes);
  while (!reader.done) yield reader.varint();
}

/**
 * The fields of a message, in the order in which they were written. Fixed-size numbers, which no message here has, are
 * skipped.
 */
export function* readFields(bytes: Uint8Array): Generator<WireField> {
  const reader = new Reader(bytes);
  while (!reader.done) {
    const tag = reader.varint();
    const number = Math.floor(tag / 8);
    // The format allows numbers of 29 bits.
    if (number < 1 || number >= 2 ** 29) throw new WireError(`there can be no field ${number}`);
    const wireType = tag % 8;
    switch (wireType) {
      case 0:
        yield { number, type: 'varint', value: reader.varint() };
        break;
      case 1:
        reader.take(8);
        break;
      case 2:
        yield { number, type: 'bytes', value: reader.take(reader.varint()) };
        break;
      case 5:
        reader.take(4);
        break;
      default:
        throw new WireError(`field ${number} has the wire type ${wireType}, which is not in use`);
    }
  }
}

/** The last of each field, for messages in which none is repeated. */
export function lastFields(bytes: Uint8Array): ReadonlyMap<number, WireField> {
  const fields = new Map<number, WireField>();
  for (const field of readFields(bytes)) fields.set(field.number, field);
  return fields;
}
