/** Just enough of merge and JSON patch for the fake client. */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** Undefined: a `test` failed. */
export function jsonPatch(target: unknown, operations: readonly unknown[]): unknown {
  const document = structuredClone(target);
  for (const operation of operations as readonly Operation[])
    if (!applyOperation(document, operation)) return undefined;
  return document;
}

function applyOperation(document: unknown, { op, path, value }: Operation): boolean {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop() ?? '';
  let parent: unknown = document;
  for (const part of parts) parent = (parent as Json | undefined)?.[part];
  if (typeof parent !== 'object' || parent === null) return false;
  const holder = parent as Json;
  switch (op) {
    case 'test':
      return JSON.stringify(holder[last]) === JSON.stringify(value);
    case 'remove':
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else Reflect.deleteProperty(holder, last);
      return true;
    case 'add':
      if (Array.isArray(parent)) parent.splice(last === '-' ? parent.length : Number(last), 0, value);
      else holder[last] = value;
      return true;
    case 'replace':
      holder[last] = value;
      return true;
  }
}
