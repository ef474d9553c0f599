/** Turns Ajv's errors into faults as Kubernetes words them. */
import type { ErrorObject } from 'ajv';
import {
  fieldOf,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  unplaced,
  type FieldError,
  type FieldPath,
} from './field-error.js';
import { intOrStringKeyword, quantityKeyword, quantityPattern } from './json-schema.js';

/** `root` is the value that was validated: it tells list indexes from members that look like numbers. */
export function schemaErrors(root: unknown, errors: readonly ErrorObject[]): FieldError[] {
  return errors.flatMap((error) => convert(error, pathOf(root, error.instancePath)));
}

function convert(error: ErrorObject, path: FieldPath): readonly FieldError[] {
  // With `verbose` Ajv gives the value and the keyword's value with each error.
  const { data, schema, keyword } = error;
  const inBody = `${fieldOf(path)} in body`;
  switch (keyword) {
    case 'type':
      return [typeInvalid(path, String(schema), typeName(data))];
    case 'required':
      return [required([...path, String((error.params as { missingProperty: unknown }).missingProperty)])];
    case 'enum':
      return [notSupported(path, data, schema as readonly unknown[])];
    case 'pattern':
      return [invalid(path, `${inBody} should match '${String(schema)}'`, data)];
    case 'minimum':
      return [invalid(path, `${inBody} should be greater than or equal to ${String(schema)}`, data)];
    case 'maximum':
      return [invalid(path, `${inBody} should be less than or equal to ${String(schema)}`, data)];
    case 'minLength':
      return [invalid(path, `${inBody} should be at least ${String(schema)} chars long`, data)];
    case 'minItems':
      return [invalid(path, `${inBody} should have at least ${String(schema)} items`)];
    case 'maxLength':
      return [tooLong(path, Number(schema))];
    case 'maxItems':
      return [tooMany(path, (data as readonly unknown[]).length, Number(schema))];
    case 'format':
      return [formatError(path, String(schema), data)];
    case quantityKeyword:
      if (typeof data === 'string')
        return [invalid(path, `${inBody} should match '${quantityPattern}'`, data)];
      return intOrStringErrors(path, data);
    case intOrStringKeyword:
      return intOrStringErrors(path, data);
    case 'if':
      // Reports that its `else` failed, which reports itself.
      return [];
    default:
      throw new Error(`no wording for the JSON Schema keyword ${keyword}`);
  }
}

function formatError(path: FieldPath, format: string, data: unknown): FieldError {
  if (typeof data !== 'number') return typeInvalid(path, format, data);
  const type = format.startsWith('int') ? 'integer' : 'number';
  return unplaced(
    path,
    `Checked value must be of type ${type} with format ${format} in ${fieldOf(path)}`,
    '',
  );
}

function intOrStringErrors(path: FieldPath, data: unknown): readonly FieldError[] {
  return [
    typeInvalid(path, 'integer', typeName(data)),
    unplaced(path, `"${fieldOf(path)}" must validate at least one schema (anyOf)`, ''),
  ];
}

/** The name by which a message calls the type of a value. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** `/spec/disks/0/name` → ['spec', 'disks', 0, 'name']. */
function pathOf(root: unknown, pointer: string): FieldPath {
  let value = root;
  return pointer
    .split('/')
    .slice(1)
    .map((token) => {
      const step = token.replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(value)) {
        value = value[Number(step)] as unknown;
        return Number(step);
      }
      value =
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined;
      return step;
    });
}
