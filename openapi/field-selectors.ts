/** Field selectors: `metadata.name=a,status.phase!=Running`. */
import { SelectorError } from './selector-error.js';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** All requirements must hold. Which fields a kind knows is for the caller to check: see `requirements`. */
export interface FieldMatcher {
  readonly requirements: readonly FieldRequirement[];
  readonly everything: boolean;
  /** `read` gives the value of a field, '' if it has none. */
  matches(read: (field: string) => string): boolean;
  /** The value that `field` must have, if the selector says so. */
  exactValue(field: string): string | undefined;
  toString(): string;
}

const special = /\\(.?)|=/gs;

function unescapeValue(value: string): string {
  return value.replace(special, (_, character: string | undefined) => {
    if (character === undefined)
      throw new SelectorError("invalid field selector: unescaped character in value: '=' (write \\=)");
    if (character === '\\' || character === ',' || character === '=') return character;
    throw new SelectorError(
      `invalid field selector: invalid escape sequence: \\${character} (only \\\\, \\, and \\= are known)`,
    );
  });
}

const escapeValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

/** `metadata.name=a,status.phase!=Running`, with `\,`, `\=` and `\\` in values. Throws `SelectorError`. */
export function parseFieldSelector(text: string): FieldMatcher {
  const requirements = splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, text));
  return {
    requirements,
    everything: requirements.length === 0,
    matches: (read) =>
      requirements.every(({ field, operator, value }) => (read(field) === value) === (operator === '=')),
    exactValue: (field) =>
      requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value,
    toString: () =>
      requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(','),
  };
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, whole: string): FieldRequirement {
  for (let at = 0; at < term.length; at++) {
    const operator = (['!=', '==', '='] as const).find((candidate) => term.startsWith(candidate, at));
    if (operator !== undefined) {
      const value = unescapeValue(term.slice(at + operator.length));
      return { field: term.slice(0, at), operator: operator === '!=' ? '!=' : '=', value };
    }
  }
  throw new SelectorError(
    `invalid selector: '${whole}'; can't understand '${term}': expected field=value or field!=value`,
  );
}
