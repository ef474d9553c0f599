import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { isoImage, type IsoFile } from './image.js';

/** Reads the Joliet hierarchy as a guest would, knowing nothing of the writer. */
function readJoliet(image: Buffer): { label: string; files: Map<string, Buffer> } {
  const descriptor = image.subarray(17 * 2048, 18 * 2048);
  assert.equal(descriptor.toString('latin1', 0, 6), '\u0002CD001');
  assert.equal(descriptor.toString('latin1', 88, 91), '%/E');
  assert.equal(descriptor.readUInt32LE(80) * 2048, image.length);
  const files = new Map<string, Buffer>();
  const ucs2 = (bytes: Buffer) => Buffer.from(bytes).swap16().toString('utf16le');
  const walk = (extent: number, size: number, prefix: string) => {
    const directory = image.subarray(extent * 2048, extent * 2048 + size);
    for (let offset = 0, index = 0; offset < size;) {
      const length = directory[offset] ?? 0;
      if (length === 0) {
        offset = (Math.floor(offset / 2048) + 1) * 2048;
        continue;
      }
      const record = directory.subarray(offset, offset + length);
      const [start, bytes] = [record.readUInt32LE(2), record.readUInt32LE(10)];
      assert.deepEqual([record.readUInt32BE(6), record.readUInt32BE(14)], [start, bytes]);
      const name = ucs2(record.subarray(33, 33 + (record[32] ?? 0) - ((record[32] ?? 0) % 2)));
      if (index++ > 1) {
        if (((record[25] ?? 0) & 2) !== 0) walk(start, bytes, `${prefix}${name}/`);
        else files.set(prefix + name, image.subarray(start * 2048, start * 2048 + bytes));
      }
      offset += length;
    }
  };
  walk(descriptor.readUInt32LE(158), descriptor.readUInt32LE(166), '');
  return { label: ucs2(descriptor.subarray(40, 72)).trimEnd(), files };
}

const file = (path: string, content: string | Uint8Array = path): IsoFile => ({
  path,
  content: Buffer.from(content),
});

test('an image holds its files under their names', () => {
  const files = [
    file('openstack/latest/meta_data.json', '{}'),
    file('openstack/latest/user_data', '#cloud-config\n'),
    file('openstack/content/0000'),
    file('empty', ''),
    file('two-sectors', Buffer.alloc(2049, 1)),
  ];
  const { label, files: found } = readJoliet(isoImage('config-2', files));
  assert.equal(label, 'config-2');
  assert.deepEqual([...found].sort(), files.map(({ path, content }) => [path, content] as const).sort());
});

test('any set of names and contents comes back', () => {
  const name = fc.stringMatching(/^[a-z0-9][a-zA-Z0-9._-]{0,40}$/).filter((text) => !text.endsWith('.'));
  const files = fc.uniqueArray(fc.record({ path: name, content: fc.uint8Array({ maxLength: 5000 }) }), {
    selector: ({ path }) => path,
    maxLength: 80,
  });
  fc.assert(
    fc.property(files, (given) => {
      const { files: found } = readJoliet(isoImage('cidata', given));
      assert.equal(found.size, given.length);
      for (const { path, content } of given) assert.deepEqual(found.get(path), Buffer.from(content));
    }),
    { numRuns: 30 },
  );
});

test('equal files make equal images', () => {
  const make = () => isoImage('cidata', [file('user-data'), file('meta-data')]);
  assert.deepEqual(make(), make());
});

test('paths that lead out of an image, and labels that do not fit, are refused', () => {
  for (const path of ['', '/etc/passwd', 'a/../b', 'a//b', '.', 'a/']) {
    assert.throws(() => isoImage('x', [file(path)]), RangeError, path);
  }
  assert.throws(() => isoImage('x', [file('a'), file('a')]), RangeError);
  assert.throws(() => isoImage('x', [file('a'), file('a/b')]), RangeError);
  assert.throws(() => isoImage('x'.repeat(33), []), RangeError);
});

const isoinfo = spawnSync('isoinfo', ['-version']).status === 0;

test('isoinfo reads the image', { skip: isoinfo ? false : 'isoinfo (genisoimage) is not installed' }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-iso-'));
  const path = join(directory, 'image.iso');
  try {
    const long = 'k'.repeat(253);
    const many = Array.from({ length: 100 }, (_, index) => file(`many/a-file-with-a-long-name-${index}.txt`));
    writeFileSync(path, isoImage('cidata', [file('user-data', 'hello'), file(long), ...many]));
    const info = (...argv: string[]) => execFileSync('isoinfo', [...argv, '-i', path], { encoding: 'utf8' });
    assert.match(info('-d'), /Volume id: cidata\n[^]*Joliet with UCS level 3 found[^]*Rock Ridge/);
    const rockRidge = info('-R', '-f').split('\n');
    for (const name of [`/${long}`, '/user-data', '/many/a-file-with-a-long-name-99.txt']) {
      assert.ok(rockRidge.includes(name), name);
    }
    assert.ok(info('-J', '-f').split('\n').includes('/many/a-file-with-a-long-name-0.txt'));
    assert.ok(info('-f').split('\n').includes('/USER_DAT.;1'));
    assert.equal(info('-R', '-x', '/user-data'), 'hello');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
