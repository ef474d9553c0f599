/** A copy of a JSON value that shares nothing with it: several times as fast as `structuredClone`, which knows more than JSON. */
export function cloneJson<T>(value: T): T {
  // The copy has the shape of the original.
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const object: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    // Assigned, this name would change the copy's prototype instead.
    if (key === '__proto__') Object.defineProperty(object, key, { value: copy(member), enumerable: true });
    else object[key] = copy(member);
  }
  return object;
}
