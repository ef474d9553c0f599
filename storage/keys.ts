/** Keys of the store: their order, and ranges of them. */

/**
 * Orders keys as their UTF-8 bytes do, which is the order of every backend. Differs from `<` only where a character
 * beyond U+FFFF meets one between U+E000 and U+FFFF.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates (which stand for characters beyond U+FFFF) behind all other code units. */
function utf8Rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The first string behind all that begin with `prefix`; undefined if there is none (an empty prefix). */
export function prefixEnd(prefix: string): string | undefined {
  if (prefix === '') return undefined;
  const last = prefix.charCodeAt(prefix.length - 1);
  if (last >= 0x7f) throw new RangeError(`a prefix must end in an ASCII character: ${prefix}`);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}

/** The answer to a key that no backend can hold. */
export function checkKey(key: string): void {
  // A lone surrogate has no UTF-8 form: two such keys could become one on disk.
  if (!key.startsWith('/') || key.includes('\0') || key.length > 4096 || /\p{Surrogate}/u.test(key)) {
    throw new RangeError(
      `a key begins with a slash, is well-formed, holds no NUL and has at most 4096 characters: ${JSON.stringify(key)}`,
    );
  }
}
