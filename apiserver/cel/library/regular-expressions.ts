/** Regular expressions, in RE2's syntax and time. */
import { PatternError } from '../regex/parse.js';
import { codesOf, Regex } from '../regex/regex.js';
import { EvaluationError } from '../values.js';
import { onTexts, type Library } from './function.js';

/** Expressions are mostly literals in a policy, and used again. */
const known = new Map<string, Regex>();
const maximumKnown = 200;

function regexOf(text: string): Regex {
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  try {
    const regex = new Regex(text);
    if (known.size >= maximumKnown) known.clear();
    known.set(text, regex);
    return regex;
  } catch (error) {
    if (error instanceof PatternError) throw new EvaluationError(error.message);
    throw error;
  }
}

function findAll(text: string, pattern: string, limit: bigint): readonly string[] {
  const [regex, codes] = [regexOf(pattern), codesOf(text)];
  const found: string[] = [];
  let at = 0;
  let end = -1;
  while (at <= codes.length && (limit < 0n || BigInt(found.length) < limit)) {
    const match = regex.find(codes, at);
    if (match === undefined) break;
    const empty = match.end === match.start;
    // Nothing, right behind what was found, is not found again.
    if (!empty || match.start !== end)
      found.push(String.fromCodePoint(...codes.slice(match.start, match.end)));
    end = match.end;
    at = empty ? match.end + 1 : match.end;
  }
  return found;
}

export const regularExpressions: Library = {
  matches: onTexts((text, pattern) => regexOf(pattern).test(text)),
  find: onTexts((text, pattern) => findAll(text, pattern, 1n)[0] ?? ''),
  findAll: (text, pattern, limit = -1n) =>
    typeof text === 'string' && typeof pattern === 'string' && typeof limit === 'bigint'
      ? findAll(text, pattern, limit)
      : undefined,
};
