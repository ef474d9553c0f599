/** Classes of characters by their names. */

/** Of a code point. */
export type CharacterSet = (code: number) => boolean;

/** @param ranges first and last of each, in turn */
function ofRanges(...ranges: readonly string[]): CharacterSet {
  const codes = ranges.map(
    ([first = '', last = first]) => [first.charCodeAt(0), last.charCodeAt(0)] as const,
  );
  return (code) => codes.some(([first, last]) => code >= first && code <= last);
}

const space = (code: number): boolean => [9, 10, 12, 13, 32].includes(code);
const digit = ofRanges('09');
const word = ofRanges('09', 'az', 'AZ', '_');

const byName: Readonly<Record<string, CharacterSet>> = {
  alnum: ofRanges('09', 'az', 'AZ'),
  alpha: ofRanges('az', 'AZ'),
  ascii: (code) => code < 128,
  blank: ofRanges('\t', ' '),
  cntrl: (code) => code < 32 || code === 127,
  digit,
  graph: ofRanges('!~'),
  lower: ofRanges('az'),
  print: ofRanges(' ~'),
  punct: ofRanges('!/', ':@', '[`', '{~'),
  space: (code) => space(code) || code === 11,
  upper: ofRanges('AZ'),
  word,
  xdigit: ofRanges('09', 'af', 'AF'),
};

const perl: Readonly<Record<string, CharacterSet>> = { d: digit, s: space, w: word };

/** `[:name:]`. */
export function classByName(name: string): CharacterSet | undefined {
  return Object.hasOwn(byName, name) ? byName[name] : undefined;
}

export const isWord = word;

/** @param escape behind the backslash: `d`, `W`, `pL`, `P{Greek}` */
export function escapedClass(escape: string): CharacterSet | undefined {
  const letter = escape.charAt(0);
  const set = letter.toLowerCase() === 'p' ? property(escape) : perl[letter.toLowerCase()];
  if (set === undefined) return undefined;
  const negated = (letter !== letter.toLowerCase()) !== escape.includes('^');
  return negated ? (code) => !set(code) : set;
}

/** The class has one character, so that the runtime's own expressions can not take long. */
function property(escape: string): CharacterSet | undefined {
  const name = escape.slice(1).replace(/[{}^]/g, '');
  for (const each of [name, `Script=${name}`]) {
    try {
      const expression = new RegExp(`^\\p{${each}}$`, 'u');
      return (code) => expression.test(String.fromCodePoint(code));
    } catch {
      // No property of that name: perhaps a script.
    }
  }
  return undefined;
}
