import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { PatternError } from './parse.js';
import { codesOf, Regex } from './regex.js';

test('syntax', () => {
  const table: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['^a.c$', ['abc', 'aüc'], ['ab', 'a\nc', 'xabc']],
    ['(?s)^a.c$', ['a\nc'], ['ac']],
    ['(?i)straße', ['STRAßE'], ['strasse']],
    ['a(?i:b)c', ['aBc'], ['ABc']],
    ['(?m)^b$', ['a\nb\nc'], ['ab']],
    ['^[[:alpha:]_][^0-9]*$', ['_ab', 'x'], ['1', 'a1']],
    [String.raw`^\d{2,3}\.\w+\s?$`, ['12.a', '123.b_ '], ['1.a', '1234.a']],
    [String.raw`^\pL\p{Greek}\P{N}$`, ['aβc'], ['aβ1', 'abc']],
    [String.raw`^\x41\x{1F600}\101\Q.*\E$`, ['A😀A.*'], ['A😀Axx']],
    [String.raw`\bend\b`, ['the end'], ['bend']],
    ['^(?P<name>a|b)+?c*$', ['abab', 'acc'], ['c', '']],
    ['^[a\\-z\\]]+$', ['a-]'], ['b']],
    ['^$|^x{0}y$', ['', 'y'], ['x']],
  ];
  for (const [text, matching, others] of table) {
    const regex = new Regex(text);
    for (const each of matching) assert.ok(regex.test(each), `${text} matches ${each}`);
    for (const each of others) assert.ok(!regex.test(each), `${text} does not match ${each}`);
  }
});

test('what is no expression says why', () => {
  const table: Readonly<Record<string, RegExp>> = {
    '(a': /missing closing \)/,
    'a)': /unexpected \)/,
    '[a': /missing closing \]/,
    '*a': /missing argument/,
    'a**': /nested repetition/,
    'a{2000}': /invalid repeat count/,
    '((a{1000}){1000}){1000}': /too large/,
    '(?=a)': /unsupported Perl syntax/,
    '\\8': /invalid escape/,
    '[b-a]': /invalid character class range/,
    '\\p{Nothing}': /invalid character class range/,
  };
  for (const [text, message] of Object.entries(table))
    assert.throws(
      () => new Regex(text),
      (error) => error instanceof PatternError && message.test(error.message),
      text,
    );
});

test('an expression that others choke on is done in one pass', () => {
  assert.equal(new Regex('^(a+)+$').test(`${'a'.repeat(5000)}b`), false);
  assert.equal(new Regex('(x*)*y').test('x'.repeat(5000)), false);
});

test('the runtime finds the same', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '(?:a|b)', '(?:ab|a)', '^', '$', '\\b');
  const count = fc.constantFrom('', '', '*', '+', '?', '*?', '+?', '{1,2}', '{2}');
  const part = fc.tuple(atom, count).map(([each, times]) => `(?:${each})${times}`);
  const pattern = fc
    .array(
      fc.array(part, { maxLength: 4 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((choices) => choices.join('|'));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (expression, subject) => {
      const expected = new RegExp(expression, 'u').exec(subject);
      const found = new Regex(expression).find(codesOf(subject), 0);
      assert.deepEqual(
        found === undefined ? undefined : [found.start, subject.slice(found.start, found.end)],
        expected === null ? undefined : [expected.index, expected[0]],
      );
    }),
    { numRuns: 500 },
  );
});
