import assert from 'node:assert/strict';
import test from 'node:test';
import { quantityBytes, quantityValue } from './quantity.js';

test('quantities have the value that Kubernetes gives them', () => {
  const cases: [string | number, number][] = [
    ['1Gi', 2 ** 30],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['1024M', 1024e6],
    ['128974848', 128974848],
    [64, 64],
    ['1e3', 1000],
    ['12E6', 12e6],
    ['2E', 2e18],
    ['0.5', 0.5],
    ['.5Ki', 512],
    ['100m', 0.1],
    ['+1Ki', 1024],
  ];
  for (const [quantity, value] of cases) assert.equal(quantityValue(quantity), value, String(quantity));
});

test('fractions of a byte are rounded up', () => {
  assert.equal(quantityBytes('1500m'), 2);
});

test('what is no quantity is none', () => {
  for (const wrong of ['', 'Gi', '1 Gi', '1gi', '-', '1KiB', 'ten', '-1', '1e', '0x10']) {
    assert.equal(quantityValue(wrong), undefined, wrong);
  }
});
