/** Sequences of bytes. */
import { bounded } from './limits.js';
import { Opaque, type Value } from './values.js';

export class Bytes extends Opaque {
  readonly type = 'bytes';

  override readonly size: bigint;

  constructor(readonly data: Buffer) {
    super();
    this.size = BigInt(data.length);
  }

  override isZero(): boolean {
    return this.data.length === 0;
  }

  override equals(other: Value): boolean {
    return other instanceof Bytes && other.data.equals(this.data);
  }

  override compare(other: Value): number | undefined {
    return other instanceof Bytes ? Buffer.compare(this.data, other.data) : undefined;
  }

  override operate(operator: string, other: Value): Value | undefined {
    if (operator !== '+' || !(other instanceof Bytes)) return undefined;
    return new Bytes(bounded(Buffer.concat([this.data, other.data])));
  }

  override json(): unknown {
    return this.data.toString('base64');
  }
}
