import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  bytesToQuantity,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  QuantityError,
  subtractQuantities,
  toBytes,
  toMillis,
  toUnits,
} from './quantity.js';

test('canonical forms', () => {
  const cases: readonly (readonly [string | number, string])[] = [
    ['0', '0'],
    ['-0', '0'],
    ['0Mi', '0'],
    ['1', '1'],
    ['+1', '1'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1.5', '1500m'],
    ['.5', '500m'],
    ['1.', '1'],
    ['1.5Gi', '1536Mi'],
    ['1024Mi', '1Gi'],
    ['1000Ki', '1000Ki'],
    ['512Ki', '512Ki'],
    ['0.5Mi', '512Ki'],
    ['1023', '1023'],
    ['0.5Ki', '512'],
    ['0.0001Ki', '102400u'],
    ['12000', '12k'],
    ['1230000', '1230k'],
    ['1200', '1200'],
    ['12e6', '12e6'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['1E', '1E'],
    ['1e-3', '1e-3'],
    ['1e-12', '1e-9'],
    ['0.0000000001', '1n'],
    ['-1.5Gi', '-1536Mi'],
    ['100E', '100E'],
    ['1000E', '1e21'],
    ['9Ei', String((1n << 63n) - 1n)],
    [2, '2'],
    [0.25, '250m'],
    [1e21, '1e21'],
  ];
  for (const [given, expected] of cases) assert.equal(canonicalQuantity(given), expected, String(given));
});

test('what is not a quantity is refused', () => {
  for (const text of [
    '',
    'lots',
    '1.5.5',
    '1Gib',
    '1 Gi',
    '1ki',
    'e3',
    '.',
    '-',
    '1e1.5',
    '0x10',
    '1e',
    'Mi',
  ])
    assert.throws(() => parseQuantity(text), QuantityError, text);
  assert.throws(() => parseQuantity('1e65'), QuantityError);
  assert.throws(() => parseQuantity(`1${'0'.repeat(500)}`), QuantityError);
  assert.throws(() => parseQuantity(Number.NaN), QuantityError);
  assert.equal(parseQuantity('1e-999999999').nanos, 1n);
  assert.equal(isQuantity('1Gi'), true);
  assert.equal(isQuantity(null), false);
  assert.equal(isQuantity('x'), false);
});

test('bytes, units and millis round away from zero', () => {
  assert.equal(toBytes('128Mi'), 134217728);
  assert.equal(toBytes('1.5Gi'), 1610612736);
  assert.equal(toUnits('1500m'), 2);
  assert.equal(toUnits('-1500m'), -2);
  assert.equal(toMillis('1.5'), 1500);
  assert.equal(toMillis('1u'), 1);
  assert.equal(bytesToQuantity(536870912), '512Mi');
  assert.equal(bytesToQuantity(1000), '1k');
});

test('sums keep the form of the first operand that is not zero', () => {
  assert.equal(addQuantities('1Gi', '512Mi'), '1536Mi');
  assert.equal(addQuantities('0', '512Mi'), '512Mi');
  assert.equal(addQuantities('1500m', '500m'), '2');
  assert.equal(subtractQuantities('1Gi', '1Mi'), '1023Mi');
  assert.equal(compareQuantities('1Gi', '1024Mi'), 0);
  assert.ok(compareQuantities('1G', '1Gi') < 0);
});

const quantities = fc
  .tuple(
    fc.constantFrom('', '+', '-'),
    fc.oneof(
      fc.nat({ max: 10 ** 9 }).map(String),
      fc.tuple(fc.nat({ max: 10 ** 6 }), fc.nat({ max: 10 ** 6 })).map(([a, b]) => `${a}.${b}`),
    ),
    fc.oneof(
      fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti'),
      fc.integer({ min: -9, max: 12 }).map((power) => `e${power}`),
    ),
  )
  .map((parts) => parts.join(''));

test('property: canonical form is a fixed point of equal value', () => {
  fc.assert(
    fc.property(quantities, (quantity) => {
      const canonical = canonicalQuantity(quantity);
      assert.equal(canonicalQuantity(canonical), canonical);
      const before = parseQuantity(quantity);
      if (before.format !== 'BinarySI') assert.equal(parseQuantity(canonical).nanos, before.nanos);
      else assert.ok(compareQuantities(canonical, quantity) * (before.nanos < 0n ? -1 : 1) >= 0);
    }),
  );
});

test('property: comparison orders, addition undoes subtraction', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      fc.bigInt({ min: 0n, max: 10n ** 20n }),
      (a, b) => {
        const [x, y] = [
          formatQuantity({ nanos: a, format: 'DecimalSI' }),
          formatQuantity({ nanos: b, format: 'DecimalSI' }),
        ];
        assert.equal(Math.sign(compareQuantities(x, y)), a < b ? -1 : a > b ? 1 : 0);
        assert.equal(parseQuantity(subtractQuantities(addQuantities(x, y), y)).nanos, a);
      },
    ),
  );
});
