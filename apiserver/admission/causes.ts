/** How validation names places and faults. */
import type { StatusCause } from '../../openapi/meta.js';

/**
 * A place in an object, as Kubernetes writes it: `spec.domain.devices.disks[0].name`. Its text is made when it is asked for: rules
 * name many places, and most objects have no fault.
 */
export class FieldPath {
  private constructor(
    private readonly parent: FieldPath | undefined,
    private readonly part: string,
    private readonly inBrackets: boolean,
  ) {}

  static of(text: string): FieldPath {
    return new FieldPath(undefined, text, false);
  }

  child(...names: readonly string[]): FieldPath {
    return names.reduce<FieldPath>((parent, name) => new FieldPath(parent, name, false), this);
  }

  index(position: number): FieldPath {
    return new FieldPath(this, String(position), true);
  }

  /** An entry of a map: `labels[app]`. */
  key(name: string): FieldPath {
    return new FieldPath(this, name, true);
  }

  toString(): string {
    const before = this.parent?.toString() ?? '';
    if (this.inBrackets) return `${before}[${this.part}]`;
    return before === '' || this.part === '' ? `${before}${this.part}` : `${before}.${this.part}`;
  }
}

const cause =
  (reason: string) =>
  (field: FieldPath, message: string): StatusCause => ({ reason, message, field: field.toString() });

/** The value is of the right type, but wrong. */
export const invalid = cause('FieldValueInvalid');
/** A value is missing. */
export const required = cause('FieldValueRequired');
/** The value is none of those that are known. */
export const notSupported = cause('FieldValueNotSupported');
export const duplicate = cause('FieldValueDuplicate');
export const notFound = cause('FieldValueNotFound');
export const forbidden = cause('FieldValueForbidden');

/** For a word that is none of `allowed`: names them, and the one that was probably meant. */
export function unknownWord(word: string, allowed: readonly string[]): string {
  const meant = closestWord(word, allowed);
  const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  return `${JSON.stringify(word)} is none of ${allowed.map((each) => JSON.stringify(each)).join(', ')}${hint}`;
}

/** Refuses a word that is given and none of `allowed`. */
export function wordCauses(
  word: string | undefined,
  allowed: readonly string[],
  field: FieldPath,
): StatusCause[] {
  return word === undefined || allowed.includes(word)
    ? []
    : [notSupported(field, unknownWord(word, allowed))];
}

/** The word within two edits (or a third of its length) of the one given, if there is one. */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  const bound = Math.max(2, Math.floor(word.length / 3));
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= bound)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}

/** Levenshtein's. Words longer than 64 characters count as far away: nobody mistypes those. */
function editDistance(a: string, b: string): number {
  if (a.length > 64 || b.length > 64) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
