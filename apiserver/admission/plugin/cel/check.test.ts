import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkCel } from './check.js';
import { domainEnvironment, nodeEnvironment } from './environment.js';
import { CelError } from './tokens.js';

test('types are told as far as the text tells them', () => {
  const table: readonly (readonly [string, string])[] = [
    ['true', 'bool'],
    ['!has(vmi.spec.domain.cpu) || vmi.spec.domain.cpu.cores > 2', 'bool'],
    ['vmi.metadata.labels[\'app\'] == "web"', 'bool'],
    ['vmi.spec.volumes.exists(v, v.name.startsWith("data"))', 'bool'],
    ['vmi.spec.volumes.map(v, v.name)', 'list'],
    ['"a" in ["a", \'b\',] ? 1 : 2', 'int'],
    ['size(vmi.spec.volumes) + 1', 'int'],
    ['-1.5e3', 'double'],
    ['0x1Fu', 'uint'],
    [String.raw`r"\d" + 'it\'s'`, 'string'],
    ['b"\\x00"', 'bytes'],
    ['{"a": 1, "b": [2]}', 'map'],
    [
      'libvirtxml.Domain{Memory: domainSpec.Memory, CPU: DomainCPU{Mode: "host-model"}}',
      'message libvirtxml.Domain',
    ],
    ['vmi.metadata.namespace == "default"', 'bool'],
    ['vmi.spec.domain // the rest is a comment', 'unknown'],
  ];
  for (const [text, type] of table) assert.equal(checkCel(text, domainEnvironment), type, text);
  assert.equal(checkCel('vmi.metadata.name.lowerAscii()', nodeEnvironment), 'string');
});

test('a fault has its place', () => {
  const table: readonly (readonly [string, number, RegExp])[] = [
    ['', 0, /a name was expected, not the end/],
    ['vmi.', 4, /a name was expected/],
    ['(vmi', 4, /"\)" was expected, not the end/],
    ['1 +', 3, /expected/],
    ['a == 1', 0, /the variable "a" is none of "vmi"/],
    ['vm.spec', 0, /did you mean "vmi"/],
    ['vmi.x.startWith("a")', 6, /did you mean "startsWith"/],
    ['vmi.volumes.exists(v, w)', 22, /the variable "w"/],
    ['v == 1 && [1].all(v, v > 0)', 0, /the variable "v"/],
    ['1 && true', 0, /a truth value was expected, not int/],
    ['!"a"', 0, /a truth value/],
    ['"open', 0, /begins no word/],
    [String.raw`"\q"`, 1, /escape/],
    ['vmi # vmi', 4, /begins no word/],
    ['if', 0, /reserved/],
    ['vmi vmi', 4, /"vmi" was not expected/],
    ['('.repeat(300), 250, /nested too deeply/],
  ];
  for (const [text, at, message] of table) {
    assert.throws(
      () => checkCel(text, domainEnvironment),
      (error) => error instanceof CelError && error.at === at && message.test(error.message),
      text,
    );
  }
  assert.throws(() => checkCel('domainSpec', nodeEnvironment), CelError, 'a node knows no domain');
});

test('no text makes it fail in another way', () => {
  const words = fc.constantFrom(
    'vmi',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '!',
    '-',
    '?',
    ':',
    '1',
    'all',
    ',',
    '&&',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map((list) => list.join('')),
      ),
      (text) => {
        try {
          checkCel(text, domainEnvironment);
        } catch (error) {
          assert.ok(error instanceof CelError, text);
          assert.ok(error.at >= 0 && error.at <= text.length, text);
        }
      },
    ),
  );
});
