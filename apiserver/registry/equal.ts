/** Whether two JSON values mean the same: keys in any order, and a key without a value as if it were not there. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameJson(item, b[i]));
  }
  return sameKeys(a as Record<string, unknown>, b as Record<string, unknown>);
}

function sameKeys(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  for (const key of Object.keys(a)) {
    if (!sameJson(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false;
  }
  for (const key of Object.keys(b)) {
    if (b[key] !== undefined && !Object.hasOwn(a, key)) return false;
  }
  return true;
}
