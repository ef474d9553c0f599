/** Values of the types that mutations make: parts of an object (`Object.spec{…}`), and operations of a JSON patch. */
import { equal, EvaluationError, isList, isMap, Opaque, typeName, type Value } from './values.js';

const jsonPatch = 'JSONPatch';
const jsonPatchFields = ['op', 'path', 'from', 'value'];

export class Message extends Opaque {
  constructor(
    readonly type: string,
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof Message && other.type === this.type && equal(other.fields, this.fields);
  }

  override isZero(): boolean {
    return this.fields.size === 0;
  }

  override field(name: string): Value | undefined {
    return this.fields.get(name);
  }
}

/** Whether values of that type can be made. */
export function isMessageType(name: string): boolean {
  return name === jsonPatch || name === 'Object' || name.startsWith('Object.');
}

/** Throws `EvaluationError` if the type has no such fields. */
export function messageOf(type: string, fields: ReadonlyMap<string, Value>): Message {
  if (type !== jsonPatch) return new Message(type, fields);
  for (const [name, value] of fields) {
    if (!jsonPatchFields.includes(name)) throw new EvaluationError(`unexpected ${jsonPatch} field: ${name}`);
    if (name !== 'value' && typeof value !== 'string')
      throw new EvaluationError(`unexpected type ${typeName(value)} for ${jsonPatch} '${name}' field`);
  }
  return new Message(type, fields);
}

/** Every part of the object whose type is not named after its place. */
export function typeFaults(value: Value, place: string): readonly string[] {
  if (isList(value)) return value.flatMap((item) => typeFaults(item, place));
  if (isMap(value)) return [...value.values()].flatMap((member) => typeFaults(member, place));
  if (!(value instanceof Message)) return [];
  const below = [...value.fields].flatMap(([name, field]) => typeFaults(field, `${place}.${name}`));
  if (value.type === place) return below;
  return [
    `unexpected type name ${JSON.stringify(value.type)}, expected ${JSON.stringify(place)}, which matches field name path from root Object type`,
    ...below,
  ];
}
