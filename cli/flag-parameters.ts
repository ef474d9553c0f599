/** Flags that hold several values: `name:root,src:quay.io/x/y:latest,bootorder:1`. */
import { UsageError } from './errors.js';

/** A value may hold colons, but no comma. Throws a `UsageError` for a key that is not known, twice there, or missing. */
export function parseParameters<K extends string>(
  flag: string,
  text: string,
  known: readonly K[],
  required: readonly K[] = [],
): Partial<Record<K, string>> {
  const found: Partial<Record<K, string>> = {};
  for (const part of text.split(',')) {
    const colon = part.indexOf(':');
    const key = known.find((name) => name === part.slice(0, colon));
    if (colon < 0 || key === undefined)
      throw new UsageError(
        `--${flag}: ${JSON.stringify(part)} is none of ${known.map((name) => `${name}:…`).join(', ')}`,
      );
    if (found[key] !== undefined) throw new UsageError(`--${flag}: ${key} is there twice`);
    found[key] = part.slice(colon + 1);
  }
  const missing = required.find((key) => (found[key] ?? '') === '');
  if (missing !== undefined) throw new UsageError(`--${flag}: ${missing} is missing`);
  return found;
}

/** `KIND/NAME` or `NAME`. */
export function splitReference(text: string): { readonly prefix: string | undefined; readonly name: string } {
  const slash = text.indexOf('/');
  return slash < 0
    ? { prefix: undefined, name: text }
    : { prefix: text.slice(0, slash), name: text.slice(slash + 1) };
}

export function oneOf<T extends string>(flag: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value.toLowerCase() === text.toLowerCase());
  if (found === undefined)
    throw new UsageError(`--${flag} ${JSON.stringify(text)} is none of ${allowed.join(', ')}`);
  return found;
}

export function wholeNumber(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`--${flag} ${JSON.stringify(text)} is no whole number`);
  return Number(text);
}

export function bootOrderOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const order = wholeNumber(flag, text);
  if (order === 0) throw new UsageError(`--${flag}: the bootorder starts at 1`);
  return order;
}
