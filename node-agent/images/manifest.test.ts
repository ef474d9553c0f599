import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isImageError } from './errors.js';
import { readVerified, resolveManifest, sha256, verified, type ImageSource } from './manifest.js';

const { signal } = new AbortController();
const platform = { os: 'linux', architecture: 'amd64' };

async function* pieces(content: Buffer, size: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < content.length; at += size) {
    yield await Promise.resolve(content.subarray(at, at + size));
  }
}

const bytes = fc.uint8Array({ maxLength: 500 }).map((array) => Buffer.from(array));

test('property: content passes its check exactly if digest and size are its own', async () => {
  await fc.assert(
    fc.asyncProperty(bytes, bytes, fc.integer({ min: 1, max: 100 }), async (content, other, size) => {
      const descriptor = { mediaType: '', digest: sha256(content), size: content.length };
      const read = await readVerified(pieces(content, size), descriptor, 'image');
      assert.ok(read.equals(content));
      if (other.equals(content)) return;
      await assert.rejects(readVerified(pieces(other, size), descriptor, 'image'), (error) =>
        isImageError(error, 'DigestMismatch'),
      );
    }),
  );
});

test('content longer than promised is stopped there', async () => {
  let taken = 0;
  async function* endless(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      taken++;
      yield await Promise.resolve(Buffer.alloc(10));
    }
  }
  const descriptor = { mediaType: '', digest: sha256(Buffer.alloc(0)), size: 25 };
  await assert.rejects(async () => {
    for await (const chunk of verified(endless(), descriptor, 'image')) assert.equal(chunk.length, 10);
  }, /should have 25 bytes and has more/);
  assert.equal(taken, 3);
});

test('property: any document is a manifest or a typed error that names the image', async () => {
  const field = fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()));
  const document = fc.oneof(
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc
      .record({ mediaType: fc.jsonValue(), layers: field, manifests: field }, { requiredKeys: [] })
      .map((value) => JSON.stringify(value)),
  );
  await fc.assert(
    fc.asyncProperty(document, async (text) => {
      const top = { bytes: Buffer.from(text), mediaType: '', digest: sha256(Buffer.from(text)) };
      const source: ImageSource = {
        name: 'the-image',
        resolve: () => Promise.resolve(top),
        document: () => Promise.resolve(top),
        blob: () => pieces(Buffer.alloc(0), 1),
      };
      try {
        const { layers } = await resolveManifest(source, top, platform, signal);
        for (const layer of layers) assert.match(layer.digest, /^sha256:/);
      } catch (error) {
        assert.ok(isImageError(error), String(error));
        assert.match(error.message, /the-image/);
      }
    }),
  );
});
