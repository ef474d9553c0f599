/** Label selectors: kubectl's string grammar and the LabelSelector object, compiled to matchers. Field selectors are in their own file. */
import type { LabelSelector } from './meta.js';
import { labelValueFaults, qualifiedNameFaults } from './names.js';
import { SelectorError } from './selector-error.js';

export { SelectorError } from './selector-error.js';
export { parseFieldSelector, type FieldMatcher, type FieldRequirement } from './field-selectors.js';

export type LabelOperator = 'exists' | '!' | '=' | '!=' | 'in' | 'notin' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** One value for `=`, `!=`, `gt`, `lt`; none for `exists`, `!`. */
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>> | undefined;

/** All requirements must hold. */
export interface LabelMatcher {
  readonly requirements: readonly LabelRequirement[];
  /** True if it matches every object. */
  readonly everything: boolean;
  matches(labels: Labels): boolean;
  /** In kubectl's grammar, ordered by key; parses back to an equal matcher. */
  toString(): string;
}

function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  // hasOwn: a label may be called `constructor`.
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '=':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'gt':
    case 'lt': {
      const [limit] = values;
      if (value === undefined || limit === undefined || !integer.test(value)) return false;
      return operator === 'gt' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
    }
  }
}

const integer = /^-?\d{1,19}$/;

function requirementText({ key, operator, values }: LabelRequirement): string {
  const list = [...values].sort().join(',');
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case '=':
    case '!=':
      return `${key}${operator}${list}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${list})`;
    case 'gt':
      return `${key}>${list}`;
    case 'lt':
      return `${key}<${list}`;
  }
}

function labelMatcher(requirements: readonly LabelRequirement[]): LabelMatcher {
  return {
    requirements,
    everything: requirements.length === 0,
    matches: (labels) => requirements.every((requirement) => matchesRequirement(requirement, labels)),
    toString: () =>
      [...requirements]
        .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
        .map(requirementText)
        .join(','),
  };
}

/** Matches every object. */
export const everything: LabelMatcher = labelMatcher([]);

/** Matches no object: what an absent LabelSelector means. */
export const nothing: LabelMatcher = {
  requirements: [],
  everything: false,
  matches: () => false,
  toString: () => '<none>',
};

/** The string grammar: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`. Throws `SelectorError`. */
export function parseLabelSelector(text: string): LabelMatcher {
  const requirements = new LabelSelectorParser(text).parse();
  return requirements.length === 0 ? everything : labelMatcher(requirements);
}

const objectOperators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/** A LabelSelector object. Absent: matches nothing; empty: everything. Throws `SelectorError`. */
export function compileLabelSelector(selector: LabelSelector | undefined): LabelMatcher {
  if (selector === undefined) return nothing;
  const requirements: LabelRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    checked({ key, operator: '=', values: [value] }),
  );
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const compiled = Object.hasOwn(objectOperators, operator) ? objectOperators[operator] : undefined;
    if (compiled === undefined)
      throw new SelectorError(
        `"${operator}" is not a valid label selector operator: use In, NotIn, Exists or DoesNotExist`,
      );
    requirements.push(checked({ key, operator: compiled, values }));
  }
  return requirements.length === 0 ? everything : labelMatcher(requirements);
}

/** Throws unless the requirement is good by itself. */
function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  refuse('key', key, qualifiedNameFaults(key));
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length === 0)
        refuse('values', values, [`for '${operator}' the set of values may not be empty`]);
      break;
    case 'exists':
    case '!':
      if (values.length > 0) refuse('values', values, ["for 'exists' and '!' there may be no values"]);
      break;
    case 'gt':
    case 'lt':
      if (values.length !== 1 || !integer.test(values[0] ?? ''))
        refuse('values', values, ["for '>' and '<' the value must be one integer"]);
      break;
    case '=':
    case '!=':
      if (values.length !== 1)
        refuse('values', values, [`for '${operator}' there must be exactly one value`]);
      break;
  }
  values.forEach((value, index) => refuse(`values[${index}][${key}]`, value, labelValueFaults(value)));
  return requirement;
}

function refuse(field: string, value: unknown, faults: readonly string[]): void {
  if (faults.length > 0)
    throw new SelectorError(`${field}: Invalid value: ${JSON.stringify(value)}: ${faults.join('; ')}`);
}

type Token =
  | { readonly kind: 'identifier' | 'symbol'; readonly text: string }
  | { readonly kind: 'end'; readonly text: '' };

const endToken: Token = { kind: 'end', text: '' };
const tokenExpression = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/y;

/** Recursive descent over the grammar in the comment of `parseLabelSelector`. */
class LabelSelectorParser {
  private readonly tokens: Token[] = [];
  private position = 0;

  constructor(text: string) {
    tokenExpression.lastIndex = 0;
    for (let match = tokenExpression.exec(text); match !== null; match = tokenExpression.exec(text)) {
      const [, symbol, identifier = ''] = match;
      this.tokens.push(
        symbol === undefined ? { kind: 'identifier', text: identifier } : { kind: 'symbol', text: symbol },
      );
    }
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.peek().kind === 'end') return requirements;
    for (;;) {
      requirements.push(this.requirement());
      const { kind, text } = this.next();
      if (kind === 'end') return requirements;
      if (text !== ',') throw new SelectorError(`found '${text}', expected: ',' or 'end of string'`);
      if (this.peek().kind === 'end') throw new SelectorError("found '', expected: identifier after ','");
    }
  }

  private peek(): Token {
    return this.tokens[this.position] ?? endToken;
  }

  private next(): Token {
    const token = this.peek();
    this.position++;
    return token;
  }

  private requirement(): LabelRequirement {
    try {
      return checked(this.uncheckedRequirement());
    } catch (error) {
      if (error instanceof SelectorError)
        throw new SelectorError(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  private uncheckedRequirement(): LabelRequirement {
    const absent = this.peek().text === '!';
    if (absent) this.next();
    const { kind, text: key } = this.next();
    if (kind !== 'identifier' || key === 'in' || key === 'notin')
      throw new SelectorError(`found '${key}', expected: identifier`);
    const following = this.peek();
    if (absent) return { key, operator: '!', values: [] };
    if (following.kind === 'end' || following.text === ',') return { key, operator: 'exists', values: [] };
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.valueSet() : [this.value()];
    return { key, operator, values };
  }

  private operator(): LabelOperator {
    const { text } = this.next();
    switch (text) {
      case '=':
      case '==':
        return '=';
      case '!=':
      case 'in':
      case 'notin':
        return text;
      case '>':
        return 'gt';
      case '<':
        return 'lt';
      default:
        throw new SelectorError(`found '${text}', expected: in, notin, =, ==, !=, >, <`);
    }
  }

  /** A value may be empty: `a=` and `a=,b` are good. */
  private value(): string {
    const { kind, text } = this.peek();
    if (kind === 'end' || text === ',') return '';
    if (kind !== 'identifier') throw new SelectorError(`found '${text}', expected: identifier`);
    return this.next().text;
  }

  private valueSet(): string[] {
    const open = this.next();
    if (open.text !== '(') throw new SelectorError(`found '${open.text}', expected: '('`);
    const values = new Set<string>();
    for (;;) {
      const { kind, text } = this.next();
      if (kind === 'identifier') {
        values.add(text);
        const separator = this.next();
        if (separator.text === ')') return [...values];
        if (separator.text !== ',')
          throw new SelectorError(`found '${separator.text}', expected: ',' or ')'`);
        if (this.peek().text === ')') values.add('');
      } else if (text === ',' || text === ')') {
        values.add('');
        if (text === ')') return [...values];
      } else {
        throw new SelectorError(`found '${text}', expected: ',', ')' or identifier`);
      }
    }
  }
}
