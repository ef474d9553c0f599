/** The wire format of protocol buffers, read field by field. */

/** The bytes are no message: cut short, or with a wire type that is not used. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

export type WireValue =
  { readonly kind: 'varint'; readonly value: bigint } | { readonly kind: 'bytes'; readonly value: Buffer };

export interface WireField {
  readonly number: number;
  readonly value: WireValue;
}

const maxVarintBytes = 10;

/** Every field in the order in which it was written. Fixed-width fields, which Kubernetes does not use, are skipped. */
export function readFields(message: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let index = 0; index < maxVarintBytes; index++) {
      const byte = message[at++];
      if (byte === undefined) throw new ProtobufError('the message ends inside a number');
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return value;
    }
    throw new ProtobufError('a number has more than ten bytes');
  };
  const bytes = (length: number): Buffer => {
    if (length > message.length - at) throw new ProtobufError('the message ends inside a field');
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(varint() & 0xffff_ffffn);
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: { kind: 'varint', value: varint() } });
        break;
      case 1:
        bytes(8);
        break;
      case 2:
        fields.push({ number, value: { kind: 'bytes', value: bytes(Number(varint())) } });
        break;
      case 5:
        bytes(4);
        break;
      default:
        throw new ProtobufError(`field ${number} has a wire type that is not used`);
    }
  }
  return fields;
}
