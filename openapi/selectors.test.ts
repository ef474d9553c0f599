import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  compileLabelSelector,
  everything,
  nothing,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from './selectors.js';

const labels = { app: 'web', tier: 'front', n: '7', empty: '', 'example.com/x': 'y' };

test('label selectors: what matches', () => {
  const matching = [
    '',
    ' ',
    'app',
    'app=web',
    'app==web',
    'app = web',
    'app!=db',
    'missing!=x',
    '!missing',
    '! missing',
    'app in (web,db)',
    'app in(web)',
    'app notin (db)',
    'missing notin (a)',
    'n>6',
    'n<8',
    'empty=',
    'empty=,app',
    'empty in ()',
    'empty in (a,)',
    'empty in (,a)',
    'example.com/x=y',
    'app=web,tier in (front , back),!z',
    'app in (in,notin,web)',
  ];
  for (const text of matching) assert.equal(parseLabelSelector(text).matches(labels), true, text);
  const failing = [
    'missing',
    '!app',
    'app=db',
    'app!=web',
    'app notin (web)',
    'n>7',
    'app>1',
    'constructor',
    'app=web,z',
  ];
  for (const text of failing) assert.equal(parseLabelSelector(text).matches(labels), false, text);
  assert.equal(parseLabelSelector('a').matches(undefined), false);
  assert.equal(parseLabelSelector('!a').matches(undefined), true);
  assert.equal(parseLabelSelector('').everything, true);
});

test('label selectors: messages of what cannot be parsed', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['a in (', /^unable to parse requirement: found '', expected: ',', '\)' or identifier$/],
    ['a in', /^unable to parse requirement: found '', expected: '\('$/],
    ['a in (b', /^unable to parse requirement: found '', expected: ',' or '\)'$/],
    ['a b', /^unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, >, <$/],
    ['=a', /^unable to parse requirement: found '=', expected: identifier$/],
    ['in=a', /found 'in', expected: identifier/],
    ['a=b c', /^found 'c', expected: ',' or 'end of string'$/],
    ['a,', /^found '', expected: identifier after ','$/],
    ['!a=b', /^found '=', expected: ',' or 'end of string'$/],
    ['a=(', /found '\(', expected: identifier/],
    ['a!b=c', /found '!', expected/],
    ['a/b/c=d', /^unable to parse requirement: key: Invalid value: "a\/b\/c": /],
    ['a=b$', /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "b\$": a valid label/],
    ['a>b', /values: Invalid value: \["b"\]: /],
    ['x;y=1', /key: Invalid value/],
  ];
  for (const [text, message] of cases)
    assert.throws(
      () => parseLabelSelector(text),
      (error) => error instanceof SelectorError && message.test(error.message),
      text,
    );
});

test('LabelSelector objects', () => {
  assert.equal(compileLabelSelector(undefined), nothing);
  assert.equal(compileLabelSelector({}), everything);
  const selector = compileLabelSelector({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['front', 'back'] },
      { key: 'z', operator: 'DoesNotExist' },
    ],
  });
  assert.equal(selector.matches(labels), true);
  assert.equal(selector.matches({ ...labels, z: '' }), false);
  assert.equal(selector.toString(), 'app=web,tier in (back,front),!z');
  assert.equal(nothing.matches(labels), false);
  const wrong = (operator: string, values: string[] | undefined): void => {
    // A client may send any operator.
    const expression = { key: 'a', operator, values } as unknown as { key: string; operator: 'In' };
    assert.throws(() => compileLabelSelector({ matchExpressions: [expression] }), SelectorError, operator);
  };
  wrong('In', []);
  wrong('In', undefined);
  wrong('Exists', ['a']);
  wrong('Near', ['a']);
  wrong('constructor', ['a']);
});

test('field selectors', () => {
  const read = (field: string): string => ({ 'metadata.name': 'a', 'status.phase': 'x,y=z\\' })[field] ?? '';
  const matching = [
    '',
    'metadata.name=a',
    'metadata.name==a',
    'metadata.name!=b',
    'spec.nodeName=',
    ',',
    'status.phase=x\\,y\\=z\\\\',
  ];
  for (const text of matching) assert.equal(parseFieldSelector(text).matches(read), true, text);
  assert.equal(parseFieldSelector('metadata.name=a,status.phase=Running').matches(read), false);
  assert.equal(parseFieldSelector('metadata.name=a,x!=y').exactValue('metadata.name'), 'a');
  assert.equal(parseFieldSelector('metadata.name!=a').exactValue('metadata.name'), undefined);
  assert.deepEqual(parseFieldSelector('a.b!=c').requirements, [{ field: 'a.b', operator: '!=', value: 'c' }]);
  for (const text of ['a', 'a=b=c', 'a=\\x', 'a=\\', 'a=b,c'])
    assert.throws(() => parseFieldSelector(text), SelectorError, text);
});

const word = fc
  .stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/)
  .filter((text) => text !== 'in' && text !== 'notin');
const requirement = fc.oneof(
  word,
  word.map((key) => `!${key}`),
  fc.tuple(word, fc.constantFrom('=', '==', '!='), word).map((parts) => parts.join('')),
  fc
    .tuple(word, fc.constantFrom('in', 'notin'), fc.array(word, { minLength: 1, maxLength: 3 }))
    .map(([key, operator, values]) => `${key} ${operator} (${values.join(',')})`),
);

test('property: a label selector parses back from its text', () => {
  const someLabels = fc.dictionary(word, word);
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), someLabels, (requirements, candidate) => {
      const selector = parseLabelSelector(requirements.join(','));
      const again = parseLabelSelector(selector.toString());
      assert.equal(again.toString(), selector.toString());
      assert.equal(again.matches(candidate), selector.matches(candidate));
    }),
  );
});

test('property: any text is parsed or refused with a SelectorError', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('a', '=', '!', '(', ')', ',', '<', ' ', 'in', '\\') }),
  );
  fc.assert(
    fc.property(text, (given) => {
      for (const parse of [parseLabelSelector, parseFieldSelector]) {
        try {
          parse(given);
        } catch (error) {
          assert.ok(error instanceof SelectorError);
        }
      }
    }),
  );
});

test('property: field selector values survive escaping', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const text = `a=${value.replace(/[\\,=]/g, '\\$&')}`;
      assert.equal(parseFieldSelector(text).exactValue('a'), value);
      assert.equal(parseFieldSelector(text).toString(), text);
    }),
  );
});
