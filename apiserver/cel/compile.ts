/**
 * Evaluates CEL over JSON documents: operators, fields, indices, optionals, `has`, macros, and the functions of `functions.ts`.
 * Types are those that values have when they are met.
 */
import { CelError, tokenize, type Token } from '../admission/plugin/cel/tokens.js';
import { isIn } from './collections.js';
import { callFunction, costOf, isFunction } from './functions.js';
import { isWellKnown } from './library/well-known-types.js';
import { literalValue } from './literals.js';
import { compileMacro, isMacro, takesTwoNames } from './macros.js';
import { isMessageType } from './messages.js';
import { arithmetic, negative } from './operators.js';
import { operation } from './operation.js';
import { Budget, BudgetError, isTypeName, spend, step, variable, type Evaluate } from './scope.js';
import { element, entries, field, fields, items, optionalElement, optionalField } from './select.js';
import { asBool, compare, equal, TypeValue, type Value } from './values.js';

/** Throws `EvaluationError`. */
export type Program = (variables: Readonly<Record<string, Value>>, budget?: Budget) => Value;

/** What is evaluated between others' requests may take so many steps. */
const defaultSteps = 100_000;
const maximumLength = 100_000;
const maximumDepth = 250;

export interface Node {
  readonly evaluate: Evaluate;
  /** Of a field: whether it is there. */
  readonly present?: Evaluate;
  /** Of a variable, or of fields of one: `a.b`. */
  readonly name?: string;
}

export interface CompileOptions {
  /** Whether values of the types `Object…` and `JSONPatch` may be made, as mutations do. */
  readonly patchTypes?: boolean;
}

/** Throws `CelError`. */
export function compileCel(text: string, { patchTypes = false }: CompileOptions = {}): Program {
  if (text.length > maximumLength)
    throw new CelError(`is longer than ${maximumLength} characters`, maximumLength);
  const evaluate = new Compiler(tokenize(text), patchTypes).whole();
  return (variables, budget = new Budget(defaultSteps)) =>
    evaluate({ variables: new Map(Object.entries(variables)), budget });
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

class Compiler {
  private position = 0;
  private depth = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly patchTypes: boolean,
  ) {}

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
          if (error instanceof BudgetError) throw error;
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
      left = operation(first, second, holds);
    }
  }

  private sum(operators: readonly string[], operand: () => Evaluate): Evaluate {
    let left = operand();
    for (;;) {
      const operator = operators.find((each) => this.take(each));
      if (operator === undefined) return left;
      const [first, second] = [left, operand()];
      left = operation(first, second, (a, b) => arithmetic(operator, a, b));
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
        const optional = this.take('?');
        const index = this.expression();
        this.expect(']');
        node = { evaluate: (optional ? optionalElement : element)(evaluate, index) };
      } else if (this.take('.')) node = this.selected(node);
      else if (this.isType(node.name) && this.take('{')) node = { evaluate: this.messageLiteral(node.name) };
      else return node;
    }
  }

  /** Behind a dot. */
  private selected({ evaluate, name: variable }: Node): Node {
    if (this.take('?')) return { evaluate: optionalField(evaluate, this.identifier()) };
    const name = this.identifier();
    const qualified = variable === undefined ? '' : `${variable}.${name}`;
    if (isTypeName(qualified) && !['(', '{'].includes(this.peek().text)) {
      const type = new TypeValue(qualified);
      return { evaluate: () => type };
    }
    if (!this.take('('))
      return { ...field(evaluate, name), ...(qualified === '' ? {} : { name: qualified }) };
    if (isFunction(qualified)) return { evaluate: this.call(qualified) };
    return { evaluate: this.call(name, evaluate) };
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
    if (this.take('[')) return { evaluate: this.listLiteral() };
    if (this.take('{')) return { evaluate: this.mapLiteral() };
    const name = this.identifier();
    if (!this.take('(')) return { evaluate: step((scope) => variable(scope, name)), name };
    return { evaluate: name === 'has' ? this.has() : this.call(name) };
  }

  private listLiteral(): Evaluate {
    return items(this.list(']', () => ({ optional: this.take('?'), evaluate: this.expression() })));
  }

  private mapLiteral(): Evaluate {
    return entries(
      this.list('}', () => {
        const optional = this.take('?');
        const key = this.expression();
        this.expect(':');
        return { optional, key, evaluate: this.expression() };
      }),
    );
  }

  private isType(name: string | undefined): name is string {
    if (name === undefined) return false;
    return isWellKnown(name) || (this.patchTypes && isMessageType(name));
  }

  private messageLiteral(type: string): Evaluate {
    return fields(
      type,
      this.list('}', () => {
        const optional = this.take('?');
        const name = this.identifier();
        this.expect(':');
        return { optional, name, evaluate: this.expression() };
      }),
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
    if (receiver !== undefined && isMacro(name)) return this.macro(name, receiver);
    if (!isFunction(name)) throw new CelError(`the function ${JSON.stringify(name)} is not supported`, start);
    const values = this.list(')', () => this.expression());
    const all = receiver === undefined ? values : [receiver, ...values];
    return step((scope) => {
      const called = all.map((value) => value(scope));
      spend(scope, costOf(name, called));
      return callFunction(name, called);
    });
  }

  private macro(name: string, receiver: Evaluate): Evaluate {
    const { at: start } = this.peek();
    const names = [this.identifier()];
    this.expect(',');
    const isName = this.peek().kind === 'identifier' && this.tokens[this.position + 1]?.text === ',';
    if (isName && takesTwoNames(name)) {
      names.push(this.identifier());
      this.expect(',');
    }
    const bodies = this.list(')', () => this.expression());
    const evaluate = compileMacro(name, receiver, names, bodies);
    if (evaluate === undefined) throw new CelError(`${name}() takes a name and an expression`, start);
    return evaluate;
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
