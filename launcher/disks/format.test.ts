import assert from 'node:assert/strict';
import test from 'node:test';
import { backingFileName, headerLength, inspect } from './format.js';

interface Header {
  readonly version?: number;
  readonly backing?: string;
  readonly encrypted?: boolean;
  readonly incompatible?: bigint;
}

function qcow2({ version = 3, backing, encrypted = false, incompatible = 0n }: Header = {}): Buffer {
  const header = Buffer.alloc(512);
  header.write('QFI\u00fb', 'latin1');
  header.writeUInt32BE(version, 4);
  if (backing !== undefined) {
    header.writeBigUInt64BE(256n, 8);
    header.writeUInt32BE(backing.length, 16);
    header.write(backing, 256);
  }
  header.writeBigUInt64BE(1n << 30n, 24);
  header.writeUInt32BE(encrypted ? 2 : 0, 32);
  header.writeBigUInt64BE(incompatible, 72);
  return header;
}

const refused = (header: Buffer) => {
  const inspection = inspect(header.subarray(0, headerLength));
  return inspection.ok ? undefined : inspection.why;
};

test('qcow2 is known by its header, with its size', () => {
  for (const version of [2, 3]) {
    const inspection = inspect(qcow2({ version }));
    assert.deepEqual(inspection, { ok: true, format: 'qcow2', virtualSize: 2 ** 30 });
  }
});

test('anything without a known header is raw', () => {
  for (const header of [
    Buffer.alloc(512),
    Buffer.from('\u00eb\u0063\u0090GRUB', 'latin1'),
    Buffer.alloc(1),
  ]) {
    assert.deepEqual(inspect(header), { ok: true, format: 'raw', virtualSize: undefined });
  }
});

test('qcow2 images that lead to other files are refused', () => {
  assert.match(refused(qcow2({ backing: '/etc/shadow' })) ?? '', /backing file/);
  assert.match(refused(qcow2({ version: 2, backing: 'json:{}' })) ?? '', /backing file/);
  assert.match(refused(qcow2({ incompatible: 1n << 2n })) ?? '', /data file/);
});

test('qcow2 images that nobody here can read are refused', () => {
  assert.match(refused(qcow2({ encrypted: true })) ?? '', /encrypted/);
  assert.match(refused(qcow2({ version: 4 })) ?? '', /version 4/);
  assert.match(refused(qcow2().subarray(0, 40)) ?? '', /cut off/);
});

test('other formats are refused by name', () => {
  assert.match(refused(Buffer.from('KDMV....')) ?? '', /VMDK/);
  assert.match(refused(Buffer.from('vhdxfile')) ?? '', /VHDX/);
  assert.match(refused(Buffer.from([0x1f, 0x8b, 8, 0])) ?? '', /gzip/);
});

test('the backing file of an overlay is read from its header', () => {
  assert.equal(backingFileName(qcow2({ backing: '../volumes/root/disk.img' })), '../volumes/root/disk.img');
  assert.equal(backingFileName(qcow2()), undefined);
  assert.equal(backingFileName(Buffer.alloc(512)), undefined);
  assert.equal(backingFileName(qcow2({ backing: 'x'.repeat(300) })), undefined);
});
