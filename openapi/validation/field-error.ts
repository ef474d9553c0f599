/** Faults of an object, in the shapes that clients of Kubernetes know. */
import type { StatusCause } from '../meta.js';

/** Members and list indexes from the root to a value. */
export type FieldPath = readonly (string | number)[];

export interface FieldError {
  /** Where the value is, or would be. */
  readonly path: FieldPath;
  readonly cause: StatusCause;
}

/** `spec.disks[0].name`. */
export function fieldOf(path: FieldPath): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
}

function fieldError(path: FieldPath, reason: string, message: string): FieldError {
  return { path, cause: { reason, message, field: fieldOf(path) } };
}

const quoted = (value: unknown): string => JSON.stringify(value);

export function required(path: FieldPath): FieldError {
  return fieldError(path, 'FieldValueRequired', 'Required value');
}

/** `detail` says what would be right. Without `value` it is left out of the message, for what is too large to print. */
export function invalid(path: FieldPath, detail: string, value?: unknown): FieldError {
  const shown = value === undefined ? '' : ` ${quoted(value)}:`;
  return fieldError(path, 'FieldValueInvalid', `Invalid value:${shown} ${detail}`);
}

/** A fault that clients see told of the object as a whole: its field is `<nil>`, as Go prints it. */
export function unplaced(path: FieldPath, detail: string, value: unknown): FieldError {
  const { cause } = invalid(path, detail, value);
  return { path, cause: { ...cause, field: '<nil>' } };
}

export function typeInvalid(path: FieldPath, type: string, value: unknown): FieldError {
  const detail = `${fieldOf(path)} in body must be of type ${type}: ${quoted(value)}`;
  return fieldError(path, 'FieldValueTypeInvalid', `Invalid value: ${quoted(value)}: ${detail}`);
}

export function notSupported(path: FieldPath, value: unknown, supported: readonly unknown[]): FieldError {
  const list = supported.map(quoted).join(', ');
  return fieldError(
    path,
    'FieldValueNotSupported',
    `Unsupported value: ${quoted(value)}: supported values: ${list}`,
  );
}

export function duplicate(path: FieldPath, value: unknown): FieldError {
  return fieldError(path, 'FieldValueDuplicate', `Duplicate value: ${quoted(value)}`);
}

export function tooLong(path: FieldPath, maximum: number): FieldError {
  return fieldError(path, 'FieldValueTooLong', `Too long: may not be more than ${maximum} bytes`);
}

export function tooMany(path: FieldPath, actual: number, maximum: number): FieldError {
  return fieldError(
    path,
    'FieldValueTooMany',
    `Too many: ${actual}: must have at most ${maximum} ${maximum === 1 ? 'item' : 'items'}`,
  );
}
