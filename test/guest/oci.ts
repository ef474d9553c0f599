/** Writes OCI image layouts: directories that hold images as a registry would serve them. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

export interface LayerFile {
  /** Without a leading slash: `disk/disk.img`. Its directories are added. */
  readonly path: string;
  readonly data: Buffer;
}

export interface Image {
  /** `name:tag`, as the layout's index calls it. */
  readonly reference: string;
  /** From the bottom up; most images here have one. */
  readonly layers: readonly (readonly LayerFile[])[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Record<string, string>;
}

const referenceAnnotation = 'org.opencontainers.image.ref.name';

function digestOf(data: Buffer): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

/** KubeVirt's images belong to QEMU's user and group, 107, in its containers. */
const owner = { uid: 107, gid: 107, mtime: new Date(0) };

async function tarOf(files: readonly LayerFile[]): Promise<Buffer> {
  const archive = pack();
  const directories = new Set(
    files.flatMap(({ path }) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, index, parts) => parts.slice(0, index + 1).join('/')),
    ),
  );
  for (const name of directories)
    archive.entry({ name: `${name}/`, type: 'directory', mode: 0o555, ...owner });
  for (const { path, data } of files) archive.entry({ name: path, mode: 0o444, ...owner }, data);
  archive.finalize();
  return buffer(archive);
}

async function writeBlob(directory: string, data: Buffer, mediaType: string): Promise<Descriptor> {
  const digest = digestOf(data);
  await writeFile(join(directory, 'blobs', 'sha256', digest.slice('sha256:'.length)), data);
  return { mediaType, digest, size: data.length };
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

async function writeImage(directory: string, image: Image): Promise<Descriptor> {
  const layers: Descriptor[] = [];
  const contentDigests: string[] = [];
  for (const files of image.layers) {
    const tar = await tarOf(files);
    contentDigests.push(digestOf(tar));
    layers.push(
      await writeBlob(directory, gzipSync(tar, { level: 6 }), 'application/vnd.oci.image.layer.v1.tar+gzip'),
    );
  }
  const config = await writeBlob(
    directory,
    json({
      architecture: 'amd64',
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: contentDigests },
    }),
    'application/vnd.oci.image.config.v1+json',
  );
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = await writeBlob(
    directory,
    json({ schemaVersion: 2, mediaType, config, layers }),
    mediaType,
  );
  return { ...manifest, annotations: { [referenceAnnotation]: image.reference } };
}

async function readIndex(path: string): Promise<Descriptor[]> {
  if (!existsSync(path)) return [];
  // Written by this file alone.
  const index = JSON.parse(await readFile(path, 'utf8')) as { manifests: Descriptor[] };
  return index.manifests;
}

/** Removes what no image of the index is made of. */
async function removeUnused(directory: string, manifests: readonly Descriptor[]): Promise<void> {
  const blobs = join(directory, 'blobs', 'sha256');
  const nameOf = ({ digest }: Descriptor): string => digest.slice('sha256:'.length);
  const used = new Set<string>();
  for (const descriptor of manifests) {
    used.add(nameOf(descriptor));
    // Written by this file alone.
    const manifest = JSON.parse(await readFile(join(blobs, nameOf(descriptor)), 'utf8')) as {
      config: Descriptor;
      layers: Descriptor[];
    };
    for (const blob of [manifest.config, ...manifest.layers]) used.add(nameOf(blob));
  }
  for (const name of await readdir(blobs)) {
    if (!used.has(name)) await rm(join(blobs, name));
  }
}

/** Adds images to a layout, made if it is not there. An image replaces the one of the same reference. */
export async function writeLayout(directory: string, images: readonly Image[]): Promise<void> {
  await mkdir(join(directory, 'blobs', 'sha256'), { recursive: true });
  const indexPath = join(directory, 'index.json');
  const written: Descriptor[] = [];
  for (const image of images) written.push(await writeImage(directory, image));
  const replaced = new Set(images.map(({ reference }) => reference));
  const kept = (await readIndex(indexPath)).filter(
    ({ annotations }) => !replaced.has(annotations?.[referenceAnnotation] ?? ''),
  );
  const manifests = [...kept, ...written];
  await writeFile(join(directory, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
  // Whoever reads the layout meanwhile sees the old index or the new one.
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  await writeFile(`${indexPath}.new`, json({ schemaVersion: 2, mediaType, manifests }));
  await rename(`${indexPath}.new`, indexPath);
  await removeUnused(directory, manifests);
}
