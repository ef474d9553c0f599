/** An apply configuration that nobody owns: what admission policies lay over an object. */
import { deduce, type FieldType } from './type-tree.js';
import { ListKeyError, merge } from './typed-value.js';

/** The configuration can not be laid over an object. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * `object` with `configuration` merged in; neither is changed. Throws `ConfigurationError` for fields that the type does not have,
 * and for lists and maps that are one value: who sets a part of them would remove the rest.
 */
export function mergeConfiguration(type: FieldType, object: object, configuration: object): object {
  const [unknown] = undeclared(type, configuration, '');
  if (unknown !== undefined)
    throw new ConfigurationError(
      `failed to convert patch object to typed object: ${unknown}: field not declared in schema`,
    );
  const atomic = atomics(type, configuration, '');
  if (atomic.length > 0)
    throw new ConfigurationError(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`,
    );
  try {
    // Two maps become one.
    return merge(type, object, configuration) as object;
  } catch (error) {
    if (error instanceof ListKeyError)
      throw new ConfigurationError(`failed to merge patch: ${error.message}`);
    throw error;
  }
}

type Members = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Paths of fields that a type with named fields does not have. */
function undeclared(type: FieldType, value: unknown, path: string): readonly string[] {
  if (type.kind === 'list' && Array.isArray(value))
    return value.flatMap((item, index) => undeclared(type.item, item, `${path}[${index}]`));
  if (type.kind !== 'map' || !isMap(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const place = `${path}.${name}`;
    const field = type.field(name);
    if (field !== undefined) return undeclared(field, member, place);
    return type.closed ? [place] : undeclared(type.element, member, place);
  });
}

/** Paths of lists and maps that are one value, among fields that the type names. */
function atomics(declared: FieldType, value: unknown, path: string): readonly string[] {
  const type = deduce(declared, value);
  const own = (isAtomic: boolean): readonly string[] => (isAtomic ? [path] : []);
  if (type.kind === 'map' && isMap(value)) {
    const below = Object.entries(value).flatMap(([name, member]) => {
      const field = type.field(name);
      return field === undefined ? [] : atomics(field, member, `${path}.${name}`);
    });
    return [...own(type.atomic), ...below];
  }
  if (type.kind !== 'list' || !Array.isArray(value)) return [];
  const below = value.flatMap((item, index) => atomics(type.item, item, `${path}[${index}]`));
  return [...own(type.relation === 'atomic'), ...below];
}
