/** Makes images for tests: layers from a description, and OCI layout directories. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { Descriptor } from '../manifest.js';

export interface TestEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly type?: 'file' | 'directory' | 'symlink' | 'link' | 'block-device' | 'character-device' | 'fifo';
  readonly linkname?: string;
}

export interface TestImage {
  readonly manifest: Buffer;
  readonly manifestDescriptor: Descriptor;
  readonly blobs: ReadonlyMap<string, Buffer>;
}

export function digestOf(data: Uint8Array): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

export async function tar(entries: readonly TestEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, content = '', type = 'file', linkname } of entries) {
    const body = Buffer.from(content);
    if (type === 'file') archive.entry({ name, type, size: body.length }, body);
    else archive.entry({ name, type, ...(linkname === undefined ? {} : { linkname }) });
  }
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export const ociTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

export const dockerTypes = {
  index: 'application/vnd.docker.distribution.manifest.list.v2+json',
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const;

function descriptor(data: Buffer, mediaType: string): Descriptor {
  return { mediaType, digest: digestOf(data), size: data.length };
}

export interface ImageShape {
  readonly types?: typeof ociTypes | typeof dockerTypes;
  readonly compress?: (layer: Buffer) => Buffer;
}

export async function makeImage(
  layers: readonly (readonly TestEntry[])[],
  { types = ociTypes, compress = gzipSync }: ImageShape = {},
): Promise<TestImage> {
  const archives = await Promise.all(layers.map(async (entries) => compress(await tar(entries))));
  return imageOfBlobs(archives, types);
}

export function imageOfBlobs(
  archives: readonly Buffer[],
  types: typeof ociTypes | typeof dockerTypes = ociTypes,
): TestImage {
  const config = Buffer.from('{}');
  const blobs = new Map([config, ...archives].map((blob) => [digestOf(blob), blob]));
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: types.manifest,
      config: descriptor(config, types.config),
      layers: archives.map((archive) => descriptor(archive, types.layer)),
    }),
  );
  return { manifest, manifestDescriptor: descriptor(manifest, types.manifest), blobs };
}

/** A containerDisk with this content. */
export function diskImage(content: string | Buffer, shape?: ImageShape): Promise<TestImage> {
  return makeImage(
    [
      [
        { name: 'disk/', type: 'directory' },
        { name: 'disk/disk.img', content },
      ],
    ],
    shape,
  );
}

/** An index that offers one image for each architecture. */
export function makeIndex(
  images: Readonly<Record<string, TestImage>>,
  types: typeof ociTypes | typeof dockerTypes = ociTypes,
): { bytes: Buffer; descriptor: Descriptor } {
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: types.index,
      manifests: Object.entries(images).map(([architecture, image]) => ({
        ...image.manifestDescriptor,
        platform: { os: 'linux', architecture },
      })),
    }),
  );
  return { bytes, descriptor: descriptor(bytes, types.index) };
}

export async function writeLayout(
  directory: string,
  images: Readonly<Record<string, TestImage>>,
): Promise<void> {
  const blobs = join(directory, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  const write = (data: Buffer): Promise<void> => writeFile(join(blobs, digestOf(data).slice(7)), data);
  const manifests = [];
  for (const [tag, image] of Object.entries(images)) {
    for (const blob of [image.manifest, ...image.blobs.values()]) await write(blob);
    const annotations = tag === '' ? {} : { 'org.opencontainers.image.ref.name': tag };
    manifests.push({ ...image.manifestDescriptor, annotations });
  }
  await writeFile(join(directory, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
}
