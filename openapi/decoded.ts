/** What the JSON and the YAML decoder share: their result, their error and their limits. */

/** The bytes are not a document that the API can hold; the message says why (400 BadRequest). */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

export interface Decoded {
  readonly value: unknown;
  /** Paths of members that were given more than once (`spec.cpu.guest`); the last one won. At most 100. */
  readonly duplicates: readonly string[];
}

/** Deeper documents are refused, so that every later walk may recurse. Real objects have some 20 levels. */
export const maximumDepth = 200;
export const maximumDuplicates = 100;
/** YAML takes a hundred times the work of JSON; objects of the API are far smaller. */
export const maximumYamlBytes = 256 * 1024;
