import assert from 'node:assert/strict';
import test from 'node:test';
import { formatAge, formatDuration } from './age.js';

const hour = 3600;
const day = 24 * hour;

for (const [seconds, text] of [
  [-5, '<invalid>'],
  [-0.5, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [200, '3m20s'],
  [600, '10m'],
  [179 * 60, '179m'],
  [3 * hour, '3h'],
  [7 * hour + 1800, '7h30m'],
  [8 * hour, '8h'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [5 * day + 3 * hour, '5d3h'],
  [8 * day + 5 * hour, '8d'],
  [700 * day, '700d'],
  [3 * 365 * day + 12 * day, '3y12d'],
  [9 * 365 * day, '9y'],
] as const) {
  test(`${seconds} s is ${text}`, () => {
    assert.equal(formatDuration(seconds * 1000), text);
  });
}

test('an age is counted from the time of the request', () => {
  assert.equal(formatAge('2026-01-02T03:04:05Z', Date.parse('2026-01-02T03:05:00Z')), '55s');
  assert.equal(formatAge('never', 0), '<unknown>');
});
