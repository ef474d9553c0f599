/**
 * Regular expressions whose match takes time linear in the text: all ways through the expression are followed at once. The runtime's
 * own may take for ever.
 */
import { isWord, type CharacterSet } from './classes.js';
import { parsePattern, PatternError, type Pattern, type Place } from './parse.js';

type Instruction =
  | { readonly op: 'character'; readonly set: CharacterSet }
  | { readonly op: 'place'; readonly place: Place }
  /** The first is tried first. */
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'match' };

/** Where a match is: positions in code points. */
export interface Found {
  readonly start: number;
  readonly end: number;
}

const maximumInstructions = 10_000;

export class Regex {
  readonly #program: readonly Instruction[];

  /** Throws `PatternError`. */
  constructor(text: string) {
    const program: Instruction[] = [];
    emit(parsePattern(text), program);
    program.push({ op: 'match' });
    this.#program = program;
  }

  /** How much is done for each character of a text, at most. */
  get size(): number {
    return this.#program.length;
  }

  test(text: string): boolean {
    return this.#run(codesOf(text), 0, true) !== undefined;
  }

  /** The first match, as long as the expression prefers. */
  find(codes: readonly number[], from: number): Found | undefined {
    return this.#run(codes, from, false);
  }

  #run(codes: readonly number[], from: number, anyWillDo: boolean): Found | undefined {
    let found: Found | undefined;
    /** In the order of preference: where in the program, and where the match began. */
    let threads = new Map<number, number>();
    for (let at = from; at <= codes.length; at++) {
      if (found === undefined) this.#follow(0, at, codes, at, threads);
      if (threads.size === 0 && found !== undefined) break;
      const next = new Map<number, number>();
      for (const [place, start] of threads) {
        const instruction = this.#program[place];
        if (instruction?.op === 'match') {
          found = { start, end: at };
          if (anyWillDo) return found;
          break;
        }
        const code = codes[at];
        if (instruction?.op === 'character' && code !== undefined && instruction.set(code))
          this.#follow(place + 1, start, codes, at + 1, next);
      }
      threads = next;
    }
    return found;
  }

  /** Adds all places that are reached without a character. */
  #follow(
    place: number,
    start: number,
    codes: readonly number[],
    at: number,
    threads: Map<number, number>,
  ): void {
    const seen = new Set<number>();
    const waiting = [place];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next) || threads.has(next)) continue;
      seen.add(next);
      const instruction = this.#program[next];
      if (instruction === undefined) continue;
      if (instruction.op === 'jump') waiting.push(instruction.to);
      else if (instruction.op === 'split') waiting.push(instruction.second, instruction.first);
      else if (instruction.op === 'place') {
        if (isAt(instruction.place, codes, at)) waiting.push(next + 1);
      } else threads.set(next, start);
    }
  }
}

export function codesOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

function isAt(place: Place, codes: readonly number[], at: number): boolean {
  const [before, after] = [codes[at - 1], codes[at]];
  const wordEnds = (before !== undefined && isWord(before)) !== (after !== undefined && isWord(after));
  switch (place) {
    case 'start':
      return before === undefined;
    case 'end':
      return after === undefined;
    case 'line-start':
      return before === undefined || before === 10;
    case 'line-end':
      return after === undefined || after === 10;
    case 'word':
      return wordEnds;
    case 'inside-word':
      return !wordEnds;
  }
}

function emit(pattern: Pattern, program: Instruction[]): void {
  if (program.length > maximumInstructions)
    throw new PatternError('error parsing regexp: expression too large');
  switch (pattern.kind) {
    case 'character':
      program.push({ op: 'character', set: pattern.set });
      return;
    case 'place':
      program.push({ op: 'place', place: pattern.place });
      return;
    case 'sequence':
      for (const part of pattern.parts) emit(part, program);
      return;
    case 'choice':
      emitChoice(pattern.parts, program);
      return;
    case 'repeat':
      emitRepeat(pattern, program);
  }
}

function emitChoice(parts: readonly Pattern[], program: Instruction[]): void {
  const ends: { to: number }[] = [];
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1) {
      emit(part, program);
      continue;
    }
    const split = { op: 'split' as const, first: program.length + 1, second: 0 };
    program.push(split);
    emit(part, program);
    const end = { op: 'jump' as const, to: 0 };
    program.push(end);
    ends.push(end);
    split.second = program.length;
  }
  for (const end of ends) end.to = program.length;
}

function emitRepeat(
  { part, min, max, greedy }: Extract<Pattern, { kind: 'repeat' }>,
  program: Instruction[],
): void {
  for (let count = 0; count < min; count++) emit(part, program);
  /** Goes on with the part, or behind it. */
  const optional = (): ((end: number) => void) => {
    const split = { op: 'split' as const, first: program.length + 1, second: program.length + 1 };
    program.push(split);
    return (end) => {
      if (greedy) split.second = end;
      else split.first = end;
    };
  };
  if (max === Infinity) {
    const again = program.length;
    const leave = optional();
    emit(part, program);
    program.push({ op: 'jump', to: again });
    leave(program.length);
    return;
  }
  const leaves: ((end: number) => void)[] = [];
  for (let count = min; count < max; count++) {
    leaves.push(optional());
    emit(part, program);
  }
  for (const leave of leaves) leave(program.length);
}
