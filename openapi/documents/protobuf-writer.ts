/** Writes JSON values as protocol buffers. A message is put together of writers, one for each type of field. */

/** The field `number` with `value`, tag included. Throws a TypeError for a value that the type can not hold. */
export type FieldWriter = (number: number, value: unknown) => Buffer;

const varintType = 0;
const doubleType = 1;
const bytesType = 2;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

function tag(number: number, type: number): Buffer {
  return varint(number * 8 + type);
}

function bytes(number: number, value: Buffer): Buffer {
  return Buffer.concat([tag(number, bytesType), varint(value.length), value]);
}

function mismatch(expected: string, value: unknown): TypeError {
  return new TypeError(`${expected} is needed, not ${JSON.stringify(value)}`);
}

export const text: FieldWriter = (number, value) => {
  if (typeof value !== 'string') throw mismatch('a string', value);
  return bytes(number, Buffer.from(value));
};

export const boolean: FieldWriter = (number, value) => {
  if (typeof value !== 'boolean') throw mismatch('a boolean', value);
  return Buffer.concat([tag(number, varintType), varint(Number(value))]);
};

export const count: FieldWriter = (number, value) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw mismatch('a count', value);
  return Buffer.concat([tag(number, varintType), varint(value)]);
};

export const double: FieldWriter = (number, value) => {
  if (typeof value !== 'number') throw mismatch('a number', value);
  const field = Buffer.alloc(8);
  field.writeDoubleLE(value);
  return Buffer.concat([tag(number, doubleType), field]);
};

export function list(item: FieldWriter): FieldWriter {
  return (number, value) => {
    if (!Array.isArray(value)) throw mismatch('a list', value);
    return Buffer.concat(value.map((member: unknown) => item(number, member)));
  };
}

/** A message of one field, which holds the whole value. */
export function wrapped(inner: number, write: FieldWriter): FieldWriter {
  return (number, value) => bytes(number, write(inner, value));
}

/** A message that is a list of pairs of name and value, in field `entry`. */
export function entries(entry: number, write: FieldWriter): FieldWriter {
  const pair = ([name, value]: readonly [string, unknown]): Buffer =>
    bytes(entry, Buffer.concat([text(1, name), write(2, value)]));
  return (number, value) => bytes(number, Buffer.concat(members(value).map(pair)));
}

/** Number and type by the member's name. */
export type Fields = Readonly<Record<string, readonly [number, FieldWriter]>>;

/** Writes a member that has no field of its own; undefined if the message can not hold it. */
export type OtherWriter = (name: string, member: unknown) => Buffer | undefined;

const noOther: OtherWriter = () => undefined;

/** What stands inside a message: the fields of an object, one after the other. */
export function content(value: unknown, fields: Fields, other: OtherWriter = noOther): Buffer {
  return Buffer.concat(
    members(value).map(([name, member]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const written = field === undefined ? other(name, member) : field[1](field[0], member);
      if (written === undefined) throw new TypeError(`the message has no field for ${name}`);
      return written;
    }),
  );
}

export function message(fields: Fields, other: OtherWriter = noOther): FieldWriter {
  return (number, value) => bytes(number, content(value, fields, other));
}

function members(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch('an object', value);
  return Object.entries(value);
}
