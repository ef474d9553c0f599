/** Values at dotted paths, as `scale` names them. */

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at `spec.replicas`; undefined where there is none. */
export function valueAt(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      object,
    );
}

/** A copy of `object` with that value at `path`; only the objects on the way are copied. */
export function withValueAt(object: unknown, path: string, value: unknown): Record<string, unknown> {
  const [key = '', ...rest] = path.split('.');
  const members = isObject(object) ? object : {};
  const inner = rest.length === 0 ? value : withValueAt(members[key], rest.join('.'), value);
  return { ...members, [key]: inner };
}
