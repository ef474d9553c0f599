/**
 * The fields of a new object in wire form (FieldsV1), as text. Most writes create, and own all that they write: building sets of fields and
 * taking others from them costs several times more than writing down what comes out.
 */
import { fieldElement, type FieldSet } from './field-set.js';
import { deduce, type FieldType } from './type-tree.js';
import { itemsByElement, shapeOf } from './typed-value.js';

/** As `compare(type, undefined, object).added.difference(unowned).toFieldsV1()` says; throws ListKeyError as it does. */
export function createdFields(type: FieldType, object: object, unowned: FieldSet): string {
  return `{${membersOf(type, object, unowned, [])}}`;
}

/** The members of a value's wire form but for its `.`, empty if it has none. `path` is left as it was. */
function membersOf(
  declared: FieldType,
  value: unknown,
  unowned: FieldSet | undefined,
  path: string[],
): string {
  const shape = shapeOf(deduce(declared, value), value);
  if (shape === undefined) return '';
  let members = '';
  if (shape.kind === 'map') {
    // In the order of their elements, which all begin alike.
    for (const key of Object.keys(shape.value).sort()) {
      const item = shape.value[key];
      if (item === undefined) continue;
      const type = shape.type.field(key) ?? shape.type.element;
      members = append(members, memberOf(type, fieldElement(key), item, unowned, path));
    }
    return members;
  }
  const items = itemsByElement(shape.type, shape.value, path);
  for (const element of [...items.keys()].sort())
    members = append(members, memberOf(shape.type.item, element, items.get(element), unowned, path));
  return members;
}

/** One member with what is below it; empty if nothing of it is owned. */
function memberOf(
  type: FieldType,
  element: string,
  value: unknown,
  unowned: FieldSet | undefined,
  path: string[],
): string {
  path.push(element);
  const below = membersOf(type, value, unowned?.children.get(element), path);
  path.pop();
  if (unowned?.members.has(element) !== true)
    return below === '' ? `${quoted(element)}:{}` : `${quoted(element)}:{".":{},${below}}`;
  return below === '' ? '' : `${quoted(element)}:{${below}}`;
}

const append = (members: string, member: string): string =>
  members === '' || member === '' ? members + member : `${members},${member}`;

const plain = /^[\w:./-]*$/;

const quoted = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text));
