/** What a user's extra fields look like in headers: a prefix, then the field's name, a line a value. */

/** @param prefixes in lower case. */
export function extraHeaders(
  rawHeaders: readonly string[],
  prefixes: readonly string[],
): Record<string, readonly string[]> {
  const extra: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index]?.toLowerCase() ?? '';
    const prefix = prefixes.find((each) => header.startsWith(each));
    if (prefix === undefined) continue;
    (extra[decodeKey(header.slice(prefix.length))] ??= []).push(rawHeaders[index + 1] ?? '');
  }
  return extra;
}

/** Keys are percent-encoded because header names can not hold every character; what is no encoding stands for itself. */
function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
