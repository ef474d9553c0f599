/**
 * Evaluates CEL over JSON documents: operators, fields, indices, `has`, the macros over lists and maps, and the functions of
 * `functions.ts`. What else CEL has (timestamps, messages, regular expressions, optionals) has no value here.
 */
import { CelError, tokenize, type Token } from '../admission/plugin/cel/tokens.js';
import { arithmetic, callFunction, functionNames, negative } from './functions.js';
import { literalValue } from './literals.js';
import { anyOf, at, entry, isIn, itemsOf } from './collections.js';
import { maximumSteps, spend, step, variable, withVariable, type Evaluate, type Scope } from './scope.js';
import {
  asBool,
  asKey,
  compare,
  equal,
  EvaluationError,
  isMap,
  typeName,
  type Key,
  type Value,
} from './values.js';

/** Throws `EvaluationError`. */
export type Program = (variables: Readonly<Record<string, Value>>) => Value;

const maximumLength = 100_000;
const maximumDepth = 250;
interface Node {
  readonly evaluate: Evaluate;
  /** Of a field: whether it is there. */
  readonly present?: Evaluate;
}

/** Throws `CelError`. */
export function compileCel(text: string): Program {
  if (text.length > maximumLength)
    throw new CelError(`is longer than ${maximumLength} characters`, maximumLength);
  const evaluate = new Compiler(tokenize(text)).whole();
  return (variables) =>
    evaluate({ variables: new Map(Object.entries(variables)), budget: { steps: maximumSteps } });
}

const relations: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
  '==': equal,
  '!=': (a, b) => !equal(a, b),
  in: isIn,
};

const macroNames = ['all', 'exists', 'exists_one', 'filter', 'map'];

class Compiler {
  private position = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  whole(): Evaluate {
    const node = this.expression();
    const { text, at } = this.peek();
    if (text !== '') throw new CelError(`${JSON.stringify(text)} was not expected`, at);
    return node;
  }

  private expression(): Evaluate {
    if (++this.depth > maximumDepth) throw new CelError('is nested too deeply', this.peek().at);
    let node = this.logical('||', () => this.logical('&&', () => this.relation()));
    if (this.take('?')) {
      const condition = node;
      const then = this.expression();
      this.expect(':');
      const otherwise = this.expression();
      node = step((scope) => (asBool(condition(scope)) ? then(scope) : otherwise(scope)));
    }
    this.depth--;
    return node;
  }

  /** An operand that decides does so whatever the other is, even if that has no value. */
  private logical(operator: '||' | '&&', operand: () => Evaluate): Evaluate {
    let left = operand();
    const decides = operator === '||';
    while (this.take(operator)) {
      const [first, second] = [left, operand()];
      left = step((scope) => {
        let value: boolean;
        try {
          value = asBool(first(scope));
        } catch (error) {
          if (asBool(second(scope)) === decides) return decides;
          throw error;
        }
        return value === decides ? decides : asBool(second(scope));
      });
    }
    return left;
  }

  private relation(): Evaluate {
    let left = this.sum(['+', '-'], () => this.sum(['*', '/', '%'], () => this.unary()));
    for (;;) {
      const operator = Object.keys(relations).find((each) => this.take(each));
      const holds = relations[operator ?? ''];
      if (holds === undefined) return left;
      const first = left;
      const second = this.sum(['+', '-'], () => this.sum(['*', '/', '%'], () => this.unary()));
      left = step((scope) => holds(first(scope), second(scope)));
    }
  }

  private sum(operators: readonly string[], operand: () => Evaluate): Evaluate {
    let left = operand();
    for (;;) {
      const operator = operators.find((each) => this.take(each));
      if (operator === undefined) return left;
      const [first, second] = [left, operand()];
      left = step((scope) => arithmetic(operator, first(scope), second(scope)));
    }
  }

  private unary(): Evaluate {
    let [nots, minuses] = [0, 0];
    while (this.take('!')) nots++;
    if (nots === 0) while (this.take('-')) minuses++;
    const { evaluate } = this.member();
    if (nots > 0) return step((scope) => asBool(evaluate(scope)) === (nots % 2 === 0));
    return minuses % 2 === 0 ? evaluate : step((scope) => negative(evaluate(scope)));
  }

  private member(): Node {
    let node = this.primary();
    for (;;) {
      const { evaluate } = node;
      if (this.take('[')) {
        const index = this.expression();
        this.expect(']');
        node = { evaluate: step((scope) => at(evaluate(scope), index(scope))) };
      } else if (this.take('.')) {
        const name = this.identifier();
        node = this.take('(') ? { evaluate: this.call(name, evaluate) } : field(evaluate, name);
      } else return node;
    }
  }

  private primary(): Node {
    const token = this.peek();
    if (token.kind === 'literal') {
      this.position++;
      const value = literalValue(token);
      return { evaluate: () => value };
    }
    if (this.take('(')) {
      const evaluate = this.expression();
      this.expect(')');
      return { evaluate };
    }
    if (this.take('[')) {
      const items = this.list(']', () => this.expression());
      return { evaluate: step((scope) => items.map((item) => item(scope))) };
    }
    if (this.take('{')) return { evaluate: this.map() };
    const name = this.identifier();
    if (!this.take('(')) return { evaluate: step((scope) => variable(scope, name)) };
    return { evaluate: name === 'has' ? this.has() : this.call(name) };
  }

  private map(): Evaluate {
    const entries = this.list('}', () => {
      const key = this.expression();
      this.expect(':');
      return [key, this.expression()] as const;
    });
    return step(
      (scope) => new Map(entries.map(([key, value]): [Key, Value] => [asKey(key(scope)), value(scope)])),
    );
  }

  private has(): Evaluate {
    const { at: start } = this.peek();
    const { present } = this.member();
    this.expect(')');
    if (present === undefined) throw new CelError('has() takes a field', start);
    return present;
  }

  private call(name: string, receiver?: Evaluate): Evaluate {
    const { at: start } = this.peek();
    if (receiver !== undefined && macroNames.includes(name)) return this.macro(name, receiver);
    if (!functionNames.includes(name))
      throw new CelError(`the function ${JSON.stringify(name)} is not supported`, start);
    const values = this.list(')', () => this.expression());
    const all = receiver === undefined ? values : [receiver, ...values];
    return step((scope) =>
      callFunction(
        name,
        all.map((value) => value(scope)),
      ),
    );
  }

  private macro(name: string, receiver: Evaluate): Evaluate {
    const bound = this.identifier();
    this.expect(',');
    const [first, second] = this.list(')', () => this.expression());
    if (first === undefined) throw new CelError(`${name}() takes a name and an expression`, this.peek().at);
    return step((scope) => {
      const items = itemsOf(receiver(scope));
      spend(scope, items.length);
      const scopes = items.map((item) => ({
        item,
        inner: withVariable(scope, bound, item),
      }));
      const holds = ({ inner }: { readonly inner: Scope }): boolean => asBool(first(inner));
      switch (name) {
        case 'all':
          return !anyOf(scopes, (each) => !holds(each));
        case 'exists':
          return anyOf(scopes, holds);
        case 'exists_one':
          return scopes.filter(holds).length === 1;
        case 'filter':
          return scopes.filter(holds).map(({ item }) => item);
        default:
          if (second === undefined) return scopes.map(({ inner }) => first(inner));
          return scopes.filter(holds).map(({ inner }) => second(inner));
      }
    });
  }

  private list<T>(end: string, item: () => T): T[] {
    const items: T[] = [];
    while (!this.take(end)) {
      items.push(item());
      if (this.take(end)) break;
      this.expect(',');
    }
    return items;
  }

  private identifier(): string {
    const { kind, text, at: start } = this.peek();
    if (kind !== 'identifier')
      throw new CelError(`a name was expected, not ${text === '' ? 'the end' : JSON.stringify(text)}`, start);
    this.position++;
    return text;
  }

  private take(text: string): boolean {
    const token = this.peek();
    if (token.kind !== 'symbol' || token.text !== text || text === '') return false;
    this.position++;
    return true;
  }

  private expect(text: string): void {
    const found = this.peek();
    if (!this.take(text))
      throw new CelError(
        `${JSON.stringify(text)} was expected, not ${found.text === '' ? 'the end' : JSON.stringify(found.text)}`,
        found.at,
      );
  }

  private peek(): Token {
    return this.tokens[this.position] ?? { kind: 'symbol', text: '', at: 0 };
  }
}

function field(operand: Evaluate, name: string): Node {
  const map = (scope: Scope): ReadonlyMap<Key, Value> => {
    const value = operand(scope);
    if (isMap(value)) return value;
    throw new EvaluationError(`${typeName(value)} has no field ${JSON.stringify(name)}`);
  };
  return {
    evaluate: step((scope) => entry(map(scope), name)),
    present: step((scope) => map(scope).has(name)),
  };
}
