/**
 * Checks an expression without evaluating it: its syntax, the names that it uses, and, as far as the text tells, the type of its
 * value. Fields of variables are not looked up, so that what they give is `unknown`.
 */
import { unknownWord } from '../../causes.js';
import type { CelEnvironment } from './environment.js';
import { CelError, tokenize, type LiteralType, type Token } from './tokens.js';

export type CelType = LiteralType | 'list' | 'map' | 'unknown' | `message ${string}`;

const maximumLength = 100_000;
const maximumDepth = 250;

/** Operators that take two operands, loosest first. */
const binary: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['<', '<=', '>', '>=', '==', '!=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];
/** Below this level operands and value are truth values; at the relations only the value is. */
const relationLevel = 2;

/** Called on a list or map with the name of a variable, which the other arguments may use. */
const macros: Readonly<Record<string, CelType>> = {
  all: 'bool',
  exists: 'bool',
  exists_one: 'bool',
  filter: 'list',
  map: 'list',
};
const typeNames = [
  'bool',
  'bytes',
  'double',
  'dyn',
  'int',
  'list',
  'map',
  'null_type',
  'string',
  'type',
  'uint',
];

/** The type of the expression's value. Throws `CelError`. */
export function checkCel(text: string, environment: CelEnvironment): CelType {
  if (text.length > maximumLength)
    throw new CelError(`is longer than ${maximumLength} characters`, maximumLength);
  return new Checker(tokenize(text), environment).whole();
}

class Checker {
  private position = 0;
  private depth = 0;
  private readonly bound: string[] = [];

  constructor(
    private readonly tokens: readonly Token[],
    private readonly environment: CelEnvironment,
  ) {}

  whole(): CelType {
    const type = this.expression();
    const { text, at } = this.peek();
    if (text !== '') throw new CelError(`${JSON.stringify(text)} was not expected`, at);
    return type;
  }

  private expression(): CelType {
    if (++this.depth > maximumDepth) throw new CelError('is nested too deeply', this.peek().at);
    const start = this.peek().at;
    let type = this.operation(0);
    if (this.take('?')) {
      requireBool(type, start);
      const then = this.operation(0);
      this.expect(':');
      const otherwise = this.expression();
      type = then === otherwise ? then : 'unknown';
    }
    this.depth--;
    return type;
  }

  private operation(level: number): CelType {
    const operators = binary[level];
    if (operators === undefined) return this.unary();
    const start = this.peek().at;
    let type = this.operation(level + 1);
    for (;;) {
      const operator = operators.find((each) => this.take(each));
      if (operator === undefined) return type;
      if (level < relationLevel) requireBool(type, start);
      const right = this.peek().at;
      const other = this.operation(level + 1);
      if (level < relationLevel) requireBool(other, right);
      type = level <= relationLevel ? 'bool' : type === other ? type : 'unknown';
    }
  }

  private unary(): CelType {
    const { at } = this.peek();
    if (this.take('!')) {
      while (this.take('!'));
      requireBool(this.member(), at);
      return 'bool';
    }
    while (this.take('-'));
    return this.member();
  }

  private member(): CelType {
    let type = this.primary();
    for (;;) {
      if (this.take('.')) {
        const name = this.identifier();
        type = this.take('(') ? this.call(name) : 'unknown';
      } else if (this.take('[')) {
        this.expression();
        this.expect(']');
        type = 'unknown';
      } else return type;
    }
  }

  private primary(): CelType {
    const token = this.peek();
    if (token.kind === 'literal') {
      this.position++;
      return token.type;
    }
    if (this.take('(')) {
      const type = this.expression();
      this.expect(')');
      return type;
    }
    if (this.take('[')) return this.items(']', () => this.expression(), 'list');
    if (this.take('{')) return this.items('}', () => this.entry(() => this.expression()), 'map');
    this.take('.');
    const message = this.messageName();
    if (message !== undefined) {
      return this.items('}', () => this.entry(() => this.identifier()), `message ${message}`);
    }
    const name = this.identifier();
    if (this.take('(')) return this.call({ ...name, free: true });
    this.requireKnown(name);
    return 'unknown';
  }

  /** `a.b.C{`, taken whole; undefined if that is not what stands here. */
  private messageName(): string | undefined {
    let end = this.position;
    while (this.tokens[end]?.kind === 'identifier' && this.tokens[end + 1]?.text === '.') end += 2;
    if (this.tokens[end]?.kind !== 'identifier' || this.tokens[end + 1]?.text !== '{') return undefined;
    const name = this.tokens.slice(this.position, end + 1).map(({ text }) => text);
    this.position = end + 2;
    return name.join('');
  }

  private entry(key: () => unknown): void {
    key();
    this.expect(':');
    this.expression();
  }

  private items(end: string, item: () => unknown, type: CelType): CelType {
    while (!this.take(end)) {
      item();
      if (this.take(end)) break;
      this.expect(',');
    }
    return type;
  }

  private call({ text, at, free = false }: Name): CelType {
    const macro = !free && Object.hasOwn(macros, text) ? macros[text] : undefined;
    if (macro !== undefined) {
      this.bound.push(this.identifier().text);
      while (this.take(',')) this.expression();
      this.expect(')');
      this.bound.pop();
      return macro;
    }
    const { functions } = this.environment;
    if (!Object.hasOwn(functions, text)) {
      const known = [...Object.keys(functions), ...(free ? [] : Object.keys(macros))];
      throw new CelError(`the function ${unknownWord(text, known)}`, at);
    }
    return this.items(')', () => this.expression(), functions[text] ?? 'unknown');
  }

  private requireKnown({ text, at }: Name): void {
    const names = [...this.bound, ...this.environment.variables];
    if (names.includes(text) || typeNames.includes(text)) return;
    throw new CelError(`the variable ${unknownWord(text, names)}`, at);
  }

  private identifier(): Name {
    const token = this.peek();
    if (token.kind !== 'identifier') throw new CelError(`a name was expected, not ${shown(token)}`, token.at);
    this.position++;
    return token;
  }

  private take(text: string): boolean {
    const token = this.peek();
    if (token.kind !== 'symbol' || token.text !== text) return false;
    this.position++;
    return true;
  }

  private expect(text: string): void {
    const token = this.peek();
    if (!this.take(text))
      throw new CelError(`${JSON.stringify(text)} was expected, not ${shown(token)}`, token.at);
  }

  private peek(): Token {
    return this.tokens[this.position] ?? { kind: 'symbol', text: '', at: 0 };
  }
}

interface Name {
  readonly text: string;
  readonly at: number;
  /** Not called on a value. */
  readonly free?: boolean;
}

const shown = ({ text }: Token): string => (text === '' ? 'the end' : JSON.stringify(text));

function requireBool(type: CelType, at: number): void {
  if (type !== 'bool' && type !== 'unknown')
    throw new CelError(`a truth value was expected, not ${type}`, at);
}
