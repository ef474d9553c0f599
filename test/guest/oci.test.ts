import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { openLayout } from '../../node-agent/images/layout.js';
import { readVerified, resolveManifest } from '../../node-agent/images/manifest.js';
import { parseReference } from '../../node-agent/images/reference.js';
import { writeLayout } from './oci.js';

function image(reference: string, content: string): Parameters<typeof writeLayout>[1][number] {
  return { reference, layers: [[{ path: 'disk/disk.img', data: Buffer.from(content) }]] };
}

test('a layout holds what its digests say, and nothing that no image uses', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'nativirt-oci-'));
  t.after(() => {
    rmSync(root, { recursive: true });
  });
  const layout = join(root, 'guest');
  await writeLayout(layout, [image('guest:disk', 'one'), image('guest:kernel', 'two')]);
  await writeLayout(layout, [image('guest:disk', 'three')]);

  const blobs = join(layout, 'blobs', 'sha256');
  for (const name of readdirSync(blobs)) {
    assert.equal(
      createHash('sha256')
        .update(readFileSync(join(blobs, name)))
        .digest('hex'),
      name,
    );
  }
  // Two images of a manifest, a configuration and a layer each.
  assert.equal(readdirSync(blobs).length, 6);

  const reference = parseReference('oci:guest:disk');
  assert.equal(reference.kind, 'layout');
  const signal = AbortSignal.timeout(10_000);
  const source = await openLayout(reference, [root]);
  const manifest = await resolveManifest(
    source,
    await source.resolve(signal),
    { os: 'linux', architecture: 'amd64' },
    signal,
  );
  const [layer] = manifest.layers;
  assert.ok(layer);
  await readVerified(source.blob(layer, signal), layer, 'guest:disk');
});

test('equal images have equal digests', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'nativirt-oci-'));
  t.after(() => {
    rmSync(root, { recursive: true });
  });
  await writeLayout(join(root, 'a'), [image('x:1', 'same')]);
  await writeLayout(join(root, 'b'), [image('x:1', 'same')]);
  assert.deepEqual(readFileSync(join(root, 'a', 'index.json')), readFileSync(join(root, 'b', 'index.json')));
});
