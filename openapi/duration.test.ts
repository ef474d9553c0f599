import assert from 'node:assert/strict';
import test from 'node:test';
import { parseDurationMs } from './duration.js';

test('durations as Go writes them', () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['0', 0],
    ['30', undefined],
    ['-1s', undefined],
    ['1s ', undefined],
    ['', undefined],
  ];
  for (const [text, milliseconds] of table) assert.equal(parseDurationMs(text), milliseconds, text);
});
