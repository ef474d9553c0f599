/** A copy of `object` without these keys. */
export function omit<T extends object, K extends keyof T>(object: T, ...keys: readonly K[]): Omit<T, K> {
  const copy: Partial<T> = {};
  for (const key in object) {
    if (!(keys as readonly string[]).includes(key)) copy[key] = object[key];
  }
  // Every key but those left out was copied.
  return copy as Omit<T, K>;
}
