/** JSON patch (RFC 6902) with the limits of kube-apiserver. */
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { cloneJson } from '../../openapi/clone.js';
import { isJsonObject } from '../codec/decode.js';
import { ApiError, badRequest } from '../errors/api-error.js';

/** What a client calls an operation; it is checked when it is applied. */
export type ClaimedOperation = Readonly<Record<string, unknown>>;

const maximumOperations = 10_000;
/** A few copies of copies would otherwise grow a small patch into gigabytes. */
const maximumCopiedBytes = 3 * 1024 * 1024;

/** An operation that can not be done. */
export class OperationError extends ApiError {
  constructor(readonly operation: ClaimedOperation) {
    super('Invalid', 'the server rejected our request due to an error in our request', {});
  }
}

function tooLarge(message: string): ApiError {
  return new ApiError('RequestEntityTooLarge', message);
}

/** Throws BadRequest unless `value` is a list of operations, and 413 if it is too long. */
export function readOperations(value: unknown): readonly ClaimedOperation[] {
  if (!Array.isArray(value) || !value.every(isJsonObject)) {
    throw badRequest('error decoding patch: a JSON patch is a list of operations');
  }
  if (value.length > maximumOperations) {
    throw tooLarge(
      `a JSON patch may have at most ${maximumOperations} operations, but this has ${value.length}`,
    );
  }
  return value;
}

function copiedBytes(document: unknown, { op, from }: ClaimedOperation): number {
  if (op !== 'copy' || typeof from !== 'string') return 0;
  const value: unknown = fastJsonPatch.getValueByPointer(document, from);
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

const namesFields = ({ path, from }: ClaimedOperation): boolean =>
  [path, from].some((pointer) => typeof pointer === 'string' && pointer.includes('managedFields'));

/** Applies the operations to `document`, which is changed. Throws Invalid if one can not be done. */
export function applyJsonPatch(document: object, operations: readonly ClaimedOperation[]): unknown {
  // Field sets are shared with other objects.
  let result: unknown = operations.some(namesFields) ? cloneJson(document) : document;
  let copied = 0;
  for (const operation of operations) {
    try {
      copied += copiedBytes(result, operation);
      if (copied <= maximumCopiedBytes) {
        // Told to validate, the library checks itself that it is an operation.
        result = fastJsonPatch.applyOperation(
          result,
          operation as unknown as Operation,
          true,
          true,
        ).newDocument;
      }
    } catch {
      // The library's errors hold the whole document in their message, and tell the client nothing it could act on.
      throw new OperationError(operation);
    }
    if (copied > maximumCopiedBytes) {
      throw tooLarge(`the copies of a JSON patch may have at most ${maximumCopiedBytes} bytes`);
    }
  }
  return result;
}
