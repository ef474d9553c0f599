import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { decode, DecodeError, decodeJson, decodeYaml, isDecodable } from './json.js';
import { maximumDepth, maximumDuplicates, maximumYamlBytes } from './decoded.js';

const json = (text: string): unknown => decodeJson(Buffer.from(text)).value;
const yaml = (text: string): unknown => decodeYaml(Buffer.from(text)).value;
const duplicatesOf = (text: string): readonly string[] => decodeJson(Buffer.from(text)).duplicates;
const refuses = (run: () => unknown, message: RegExp): void => {
  assert.throws(run, (error) => error instanceof DecodeError && message.test(error.message));
};

test('media types choose the decoder', () => {
  assert.deepEqual(decode(Buffer.from('a: 1'), 'application/yaml; charset=utf-8').value, { a: 1 });
  assert.deepEqual(decode(Buffer.from('a: 1'), 'application/apply-patch+yaml').value, { a: 1 });
  refuses(() => decode(Buffer.from('a: 1'), 'application/json'), /unexpected token/);
  assert.equal(isDecodable('Application/JSON'), true);
  assert.equal(isDecodable('text/plain'), false);
});

test('malformed JSON', () => {
  refuses(() => json(''), /^unexpected end of JSON input$/);
  refuses(() => json('{"apiVersion": '), /^unexpected end of JSON input$/);
  refuses(() => json('[1,]'), /^unexpected token/);
  refuses(() => json('{"a":1e999}'), /beyond the range/);
  refuses(() => json('\ufeff{}'), /^unexpected token/);
});

test('members named __proto__ are refused, however they are written', () => {
  refuses(() => json('{"a":[{"__proto__":{}}]}'), /__proto__/);
  refuses(() => json('{"\\u005f_proto__":{}}'), /__proto__/);
  refuses(() => yaml('__proto__: {a: 1}'), /__proto__/);
  assert.deepEqual(json('{"constructor":1}'), { constructor: 1 });
});

test('nesting is bounded', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  assert.ok(Array.isArray(json(nested(maximumDepth))));
  refuses(() => json(nested(maximumDepth + 1)), /nested deeper/);
  refuses(() => json('['.repeat(3_000_000)), /nested deeper/);
  refuses(() => yaml(nested(maximumDepth + 1)), /nested deeper/);
  refuses(
    () => yaml(Array.from({ length: 300 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')),
    /nested/,
  );
  assert.equal(json(`"${'['.repeat(1000)}"`), '['.repeat(1000));
});

test('duplicate members are named by their paths', () => {
  assert.deepEqual(duplicatesOf('{"spec":{"cpu":{"guest":1,"guest":2}}}'), ['spec.cpu.guest']);
  assert.deepEqual(duplicatesOf('{"l":[{},{"a":":{","a":1,"a":2}],"l":0}'), ['l[1].a', 'l']);
  assert.deepEqual(duplicatesOf('{"a":1,"\\u0061":2}'), ['a']);
  assert.deepEqual(duplicatesOf('{"a\\"":1,"a\\"":2}'), ['a"']);
  assert.deepEqual(duplicatesOf('[[{"x":{"y":1,"y":1}}]]'), ['[0][0].x.y']);
  assert.deepEqual(duplicatesOf('{"a":{"b":1},"c":{"b":1}}'), []);
  assert.deepEqual(json('{"a":1,"a":2}'), { a: 2 });
  const many = `{${Array.from({ length: 300 }, (_, index) => `"k${index}":0,"k${index}":0`).join(',')}}`;
  assert.equal(duplicatesOf(many).length, maximumDuplicates);
});

test('YAML reads as manifests mean it', () => {
  assert.deepEqual(
    yaml('a: yes\nb: 0644\nc: 52:54:00:11:22:33\nd: 2020-01-01\ne: "no"\nf: 1_000\ng: ~\n1: x\n'),
    {
      '1': 'x',
      a: true,
      b: 420,
      c: '52:54:00:11:22:33',
      d: '2020-01-01',
      e: 'no',
      f: 1000,
      g: null,
    },
  );
  assert.deepEqual(yaml('a: &x {b: 1}\nc: {<<: *x, d: 2}'), { a: { b: 1 }, c: { b: 1, d: 2 } });
  assert.deepEqual(decodeYaml(Buffer.from('a: 1\na: 2\nb: [{c: 1, c: 2}]')).duplicates, ['a', 'b[0].c']);
});

test('YAML that is refused', () => {
  refuses(() => yaml(''), /^unexpected end of JSON input$/);
  refuses(() => yaml('a: 1\n---\nb: 2'), /multiple documents/);
  refuses(() => yaml('a: [b'), /^yaml: line 1: /);
  refuses(() => yaml('? [a]\n: 1'), /not a scalar/);
  refuses(() => yaml('a: .inf'), /beyond the range/);
  refuses(() => yaml(`a: ${'x'.repeat(maximumYamlBytes)}`), /send JSON/);
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (const [last, next] of ['ab', 'bc', 'cd', 'de'].map((pair) => [pair[0] ?? '', pair[1] ?? '']))
    bomb.push(
      `${next ?? ''}: &${next ?? ''} [${Array.from({ length: 9 }, () => `*${last ?? ''}`).join(',')}]`,
    );
  refuses(() => yaml(bomb.join('\n')), /aliases/);
});

const documents = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => !JSON.stringify(value).includes('__proto__'));

test('property: JSON comes back as it was, without duplicates', () => {
  fc.assert(
    fc.property(documents, (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(decodeJson(Buffer.from(text)), { value: JSON.parse(text) as unknown, duplicates: [] });
    }),
  );
});

test('property: one member given twice is found', () => {
  fc.assert(
    fc.property(fc.string(), documents, documents, (key, first, second) => {
      fc.pre(key !== '__proto__');
      const name = JSON.stringify(key);
      const text = `{"x":[{${name}:${JSON.stringify(first)},${name}:${JSON.stringify(second)}}]}`;
      assert.deepEqual(duplicatesOf(text), [`x[0].${key}`]);
    }),
  );
});

test('property: any bytes are decoded or refused with a DecodeError', () => {
  const anything = fc.oneof(
    fc.uint8Array(),
    fc
      .string({
        unit: fc.constantFrom(
          '{',
          '}',
          '[',
          ']',
          ':',
          ',',
          '"',
          '\\',
          'a',
          '1',
          ' ',
          '\n',
          '-',
          '&',
          '*',
          '!',
        ),
      })
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(anything, (bytes) => {
      for (const run of [decodeJson, decodeYaml]) {
        try {
          run(bytes);
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error));
        }
      }
    }),
    { numRuns: 300 },
  );
});
