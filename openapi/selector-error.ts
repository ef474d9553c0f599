/** A selector that cannot be understood; the message says where and what was expected (400 BadRequest, or 422 for an object). */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}
