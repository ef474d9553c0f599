/** CreateOptions, UpdateOptions, PatchOptions and DeleteOptions of the query, checked as kube-apiserver does. */
import type { StatusCause } from '../../openapi/meta.js';
import type { ApiError } from '../errors/api-error.js';
import { badRequest, invalid } from '../errors/api-error.js';
import { forbiddenValue, requiredValue } from '../registry/metadata-rules.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string | undefined;
  readonly fieldValidation: FieldValidation;
}

export interface PatchOptions extends WriteOptions {
  readonly force: boolean;
}

const longestManager = 128;

export function notSupported(field: string, value: unknown, supported: readonly string[]): StatusCause {
  const list = supported.map((item) => JSON.stringify(item)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`,
    field,
  };
}

export function invalidOptions(kind: string, causes: readonly StatusCause[]): ApiError {
  return invalid('meta.k8s.io', kind, '', causes);
}

/** `?flag`, `?flag=true`, `?flag=1`; undefined if absent. */
export function flag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return !['0', 'false', 'f', 'no'].includes(value.toLowerCase());
}

/** Throws BadRequest for what is no integer. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value))
    throw badRequest(`${name} must be an integer, not ${JSON.stringify(text)}`);
  return value;
}

export function dryRunCauses(values: readonly string[]): StatusCause[] {
  const wrong = values.filter((value) => value !== 'All');
  return wrong.length === 0 ? [] : [notSupported('dryRun', values, ['All'])];
}

function managerCauses(manager: string): StatusCause[] {
  if (manager.length > longestManager) {
    const message = `Too long: may not be more than ${longestManager} bytes`;
    return [{ reason: 'FieldValueTooLong', message, field: 'fieldManager' }];
  }
  if (/^[\x20-\x7e\u00a0-\uffff]*$/u.test(manager)) return [];
  return [
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(manager)}: should only contain printable characters`,
      field: 'fieldManager',
    },
  ];
}

function readFieldValidation(query: URLSearchParams, causes: StatusCause[]): FieldValidation {
  const value = query.get('fieldValidation') ?? '';
  switch (value) {
    case '':
      return 'Warn';
    case 'Ignore':
    case 'Warn':
    case 'Strict':
      return value;
    default:
      causes.push(notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn']));
      return 'Warn';
  }
}

/** `kind` names the options in the refusal: `CreateOptions`. */
function readOptions(query: URLSearchParams, causes: StatusCause[]): WriteOptions {
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const manager = query.get('fieldManager') ?? '';
  causes.push(...dryRunCauses(dryRun), ...managerCauses(manager));
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager === '' ? undefined : manager,
    fieldValidation: readFieldValidation(query, causes),
  };
}

export function readWriteOptions(
  kind: 'CreateOptions' | 'UpdateOptions',
  query: URLSearchParams,
): WriteOptions {
  const causes: StatusCause[] = [];
  const options = readOptions(query, causes);
  if (causes.length > 0) throw invalidOptions(kind, causes);
  return options;
}

/** An apply needs a manager; only an apply may force. */
export function readPatchOptions(query: URLSearchParams, isApply: boolean): PatchOptions {
  const causes: StatusCause[] = [];
  const options = readOptions(query, causes);
  const force = flag(query, 'force');
  if (isApply && options.fieldManager === undefined) {
    causes.push(requiredValue('fieldManager', 'is required for apply patch'));
  }
  if (!isApply && force !== undefined) {
    causes.push(forbiddenValue('force', 'may not be specified for non-apply patch'));
  }
  if (causes.length > 0) throw invalidOptions('PatchOptions', causes);
  return { ...options, force: force ?? false };
}
