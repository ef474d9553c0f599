import assert from 'node:assert/strict';
import test from 'node:test';
import { imageSize } from './image-size.js';

const MiB = 1 << 20;
const space = { minimumReserve: 128 << 10, toleratedLessSpace: 10 };

test('an image is as large as was asked for where that and the reserve are free', () => {
  assert.equal(imageSize(100 * MiB, 100 * MiB + space.minimumReserve, space), 100 * MiB);
});

test('somewhat less space makes a smaller image, which leaves the reserve free', () => {
  assert.equal(imageSize(100 * MiB, 100 * MiB, space), 100 * MiB - space.minimumReserve);
  assert.equal(imageSize(100 * MiB, 95 * MiB, { ...space, minimumReserve: 1 }), 95 * MiB - 4096);
});

test('much less space makes none, nor does any where none is tolerated', () => {
  assert.equal(imageSize(100 * MiB, 90 * MiB, space), undefined);
  assert.equal(
    imageSize(100 * MiB, 80 * MiB, { ...space, toleratedLessSpace: 25 }),
    80 * MiB - space.minimumReserve,
  );
  assert.equal(imageSize(100 * MiB, 100 * MiB, { ...space, toleratedLessSpace: 0 }), undefined);
  assert.equal(imageSize(100 * MiB, 0, { ...space, toleratedLessSpace: 100 }), undefined);
});
