/** What the parts of strategic merge patch share. */

export type JsonObject = Readonly<Record<string, unknown>>;

export type MergeItem = (target: JsonObject, patch: JsonObject, path: string) => JsonObject;

/** The patch has no meaning for the object; the message says where and why (400 BadRequest). */
export class StrategicMergePatchError extends Error {
  override readonly name = 'StrategicMergePatchError';

  constructor(path: string, why: string) {
    super(`invalid strategic merge patch: ${path === '' ? '' : `${path}: `}${why}`);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
