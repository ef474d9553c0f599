/** The syntax of RE2, as far as a match can be told in linear time: everything but \C. */
import { classByName, escapedClass, type CharacterSet } from './classes.js';

export type Place = 'start' | 'end' | 'line-start' | 'line-end' | 'word' | 'inside-word';

export type Pattern =
  | { readonly kind: 'character'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly parts: readonly Pattern[] }
  | {
      readonly kind: 'repeat';
      readonly part: Pattern;
      readonly min: number;
      readonly max: number;
      readonly greedy: boolean;
    }
  | { readonly kind: 'place'; readonly place: Place };

/** The text is no regular expression. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

const maximumCount = 1000;
const maximumDepth = 200;
const places: Readonly<Record<string, Place>> = { A: 'start', z: 'end', b: 'word', B: 'inside-word' };
const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

/** Throws `PatternError`. */
export function parsePattern(text: string): Pattern {
  return new Parser(text).whole();
}

class Parser {
  private readonly characters: readonly string[];
  private at = 0;
  private depth = 0;
  private flags: Flags = { i: false, m: false, s: false, U: false };

  constructor(private readonly text: string) {
    this.characters = Array.from(text);
  }

  whole(): Pattern {
    const pattern = this.choice();
    if (this.at < this.characters.length) throw this.error('unexpected )');
    return pattern;
  }

  private choice(): Pattern {
    if (++this.depth > maximumDepth) throw this.error('expression nests too deeply');
    const flags = this.flags;
    const parts = [this.sequence()];
    while (this.take('|')) parts.push(this.sequence());
    this.flags = flags;
    this.depth--;
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: 'choice', parts };
  }

  private sequence(): Pattern {
    const parts: Pattern[] = [];
    while (this.at < this.characters.length && !['|', ')'].includes(this.peek())) {
      const atom = this.atom();
      if (atom !== undefined) parts.push(this.repeated(atom));
    }
    return { kind: 'sequence', parts };
  }

  private repeated(part: Pattern): Pattern {
    const counts = this.counts();
    if (counts === undefined) return part;
    const [min, max] = counts;
    const greedy = this.take('?') === this.flags.U;
    if (this.counts() !== undefined) throw this.error('invalid nested repetition operator');
    return { kind: 'repeat', part, min, max, greedy };
  }

  private counts(): readonly [number, number] | undefined {
    if (this.take('*')) return [0, Infinity];
    if (this.take('+')) return [1, Infinity];
    if (this.take('?')) return [0, 1];
    const braces = /^\{(\d{1,9})(?:(,)(\d{0,9}))?\}/.exec(
      this.characters.slice(this.at, this.at + 24).join(''),
    );
    if (braces === null) return undefined;
    const [all, low = '', comma, high = ''] = braces;
    const min = Number(low);
    const max = comma === undefined ? min : high === '' ? Infinity : Number(high);
    if (min > maximumCount || (max !== Infinity && max > maximumCount) || min > max)
      throw this.error(`invalid repeat count: ${all}`);
    this.at += all.length;
    return [min, max];
  }

  /** Undefined: flags for what follows. */
  private atom(): Pattern | undefined {
    const character = this.next();
    switch (character) {
      case '(':
        return this.group();
      case '[':
        return this.one(this.characterClass());
      case '.':
        return this.one(this.flags.s ? () => true : (code) => code !== 10);
      case '^':
        return { kind: 'place', place: this.flags.m ? 'line-start' : 'start' };
      case '$':
        return { kind: 'place', place: this.flags.m ? 'line-end' : 'end' };
      case '\\':
        return this.escape();
      case '*':
      case '+':
      case '?':
        throw this.error(`missing argument to repetition operator: ${character}`);
      default:
        return this.literal(character);
    }
  }

  private group(): Pattern | undefined {
    if (this.take('?') && !this.name()) {
      const flags = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(
        this.characters.slice(this.at, this.at + 12).join(''),
      );
      if (flags === null) throw this.error('invalid or unsupported Perl syntax');
      const [all, on = '', off = '', end] = flags;
      this.at += all.length;
      const set = (flag: keyof Flags): boolean =>
        (on.includes(flag) || this.flags[flag]) && !off.includes(flag);
      const changed = { i: set('i'), m: set('m'), s: set('s'), U: set('U') };
      if (end === ')') {
        this.flags = changed;
        return undefined;
      }
      const outer = this.flags;
      this.flags = changed;
      const inner = this.closed();
      this.flags = outer;
      return inner;
    }
    return this.closed();
  }

  /** `P<name>` and `<name>`: groups are not told apart here. */
  private name(): boolean {
    const name = /^P?<(\w+)>/.exec(this.characters.slice(this.at, this.at + 100).join(''));
    this.at += name?.[0].length ?? 0;
    return name !== null;
  }

  private closed(): Pattern {
    const inner = this.choice();
    if (!this.take(')')) throw this.error('missing closing )');
    return inner;
  }

  private escape(): Pattern {
    const place = Object.hasOwn(places, this.peek()) ? places[this.peek()] : undefined;
    if (place !== undefined) {
      this.at++;
      return { kind: 'place', place };
    }
    if (this.take('Q')) return this.quoted();
    const set = this.escapedSet();
    return set === undefined ? this.literal(this.escapedCharacter()) : this.one(set);
  }

  private quoted(): Pattern {
    const parts: Pattern[] = [];
    while (
      this.at < this.characters.length &&
      !(this.peek() === '\\' && this.characters[this.at + 1] === 'E')
    )
      parts.push(this.literal(this.next()));
    this.at = Math.min(this.at + 2, this.characters.length);
    return { kind: 'sequence', parts };
  }

  private escapedSet(): CharacterSet | undefined {
    const text = this.characters.slice(this.at, this.at + 40).join('');
    const [all] = /^(?:[dDsSwW]|[pP](?:\{\^?\w+\}|[A-Z]))/.exec(text) ?? [];
    if (all === undefined) return undefined;
    const set = escapedClass(all);
    if (set === undefined) throw this.error(`invalid character class range: \\${all}`);
    this.at += Array.from(all).length;
    return set;
  }

  private escapedCharacter(): string {
    const text = this.characters.slice(this.at, this.at + 12).join('');
    const [all = '', short, long, octal] =
      /^(?:x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}|([1-7][0-7]{1,2}|0[0-7]{0,2}))/.exec(text) ?? [];
    if (all !== '') {
      this.at += all.length;
      const code = octal === undefined ? Number.parseInt(short ?? long ?? '', 16) : Number.parseInt(octal, 8);
      if (code > 0x10ffff) throw this.error(`invalid escape sequence: \\${all}`);
      return String.fromCodePoint(code);
    }
    const character = this.next();
    const control = Object.hasOwn(controls, character) ? controls[character] : undefined;
    if (control !== undefined) return String.fromCodePoint(control);
    if (character === '' || /[0-9A-Za-z]/.test(character))
      throw this.error(`invalid escape sequence: \\${character}`);
    return character;
  }

  private characterClass(): CharacterSet {
    const negated = this.take('^');
    const sets: CharacterSet[] = [];
    for (let first = true; first || this.peek() !== ']'; first = false) {
      if (this.at >= this.characters.length) throw this.error('missing closing ]');
      sets.push(this.classItem());
    }
    this.at++;
    return (code) => sets.some((set) => set(code)) !== negated;
  }

  private classItem(): CharacterSet {
    const named = /^\[:(\^?)(\w+):\]/.exec(this.characters.slice(this.at, this.at + 16).join(''));
    if (named !== null) {
      const [all, not, name = ''] = named;
      const set = classByName(name);
      if (set === undefined) throw this.error(`invalid character class range: ${all}`);
      this.at += all.length;
      return not === '' ? set : (code) => !set(code);
    }
    if (this.peek() === '\\') {
      this.at++;
      const set = this.escapedSet();
      if (set !== undefined) return set;
      this.at--;
    }
    const low = this.classCharacter();
    if (this.peek() !== '-' || [']', undefined].includes(this.characters[this.at + 1]))
      return this.caseless((code) => code === low);
    this.at++;
    const high = this.classCharacter();
    if (high < low) throw this.error('invalid character class range');
    return this.caseless((code) => code >= low && code <= high);
  }

  private classCharacter(): number {
    const character = this.next();
    return (character === '\\' ? this.escapedCharacter() : character).codePointAt(0) ?? 0;
  }

  private literal(character: string): Pattern {
    const wanted = character.codePointAt(0);
    return this.one(this.caseless((code) => code === wanted));
  }

  private caseless(set: CharacterSet): CharacterSet {
    if (!this.flags.i) return set;
    const as = (text: string): number => text.codePointAt(0) ?? 0;
    return (code) => {
      const character = String.fromCodePoint(code);
      return set(code) || set(as(character.toLowerCase())) || set(as(character.toUpperCase()));
    };
  }

  private one(set: CharacterSet): Pattern {
    return { kind: 'character', set };
  }

  private peek(): string {
    return this.characters[this.at] ?? '';
  }

  private next(): string {
    return this.characters[this.at++] ?? '';
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at++;
    return true;
  }

  private error(why: string): PatternError {
    return new PatternError(`error parsing regexp: ${why}: \`${this.text}\``);
  }
}
