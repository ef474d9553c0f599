/** Images in OCI image layout directories on the node. */
import { createReadStream } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { isNotExist } from '../files.js';
import { ImageError } from './errors.js';
import {
  parseDocument,
  readList,
  readVerified,
  sha256,
  type Descriptor,
  type ImageDocument,
  type ImageSource,
} from './manifest.js';
import type { LayoutReference } from './reference.js';

const refName = 'org.opencontainers.image.ref.name';

function isInside(directory: string, root: string): boolean {
  const path = relative(root, directory);
  return path === '' || (!path.startsWith('..') && !isAbsolute(path));
}

/**
 * The layout's real directory. Only directories under `roots` are read, whatever symbolic links say, so that a VM's
 * owner cannot have the node read what the administrator did not offer. Relative directories are searched in each root.
 */
async function locate(reference: LayoutReference, roots: readonly string[]): Promise<string> {
  const { directory, text } = reference;
  if (roots.length === 0) {
    throw new ImageError(
      'InvalidReference',
      `image "${text}": this node does not offer OCI layout directories`,
    );
  }
  const candidates = isAbsolute(directory) ? [directory] : roots.map((root) => resolve(root, directory));
  const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => resolve(root))));
  for (const candidate of candidates) {
    let real: string;
    try {
      real = await realpath(candidate);
    } catch (error) {
      if (isNotExist(error)) continue;
      throw error;
    }
    if (realRoots.some((root) => isInside(real, root))) return real;
  }
  throw new ImageError(
    'ImageNotFound',
    `image "${text}": there is no OCI layout ${candidates.join(' or ')} inside ${realRoots.join(', ')} on this node`,
  );
}

function blobPath(directory: string, digest: string): string {
  return join(directory, 'blobs', 'sha256', digest.slice('sha256:'.length));
}

class LayoutSource implements ImageSource {
  readonly name: string;

  constructor(
    private readonly reference: LayoutReference,
    private readonly directory: string,
  ) {
    this.name = reference.text;
  }

  async resolve(signal: AbortSignal): Promise<ImageDocument> {
    const index = await this.readIndex(signal);
    const manifests = readList(
      parseDocument(index, this.name)['manifests'],
      this.name,
      'index.json manifests',
    );
    const chosen = this.select(manifests);
    if (chosen !== undefined) return this.document(chosen, signal);
    // Untagged entries that differ in platform only are one image.
    if (this.reference.tag === undefined && manifests.every((entry) => entry.platform !== undefined)) {
      return { bytes: index, mediaType: 'application/vnd.oci.image.index.v1+json', digest: sha256(index) };
    }
    const tags = manifests.flatMap((entry) => entry.annotations?.[refName] ?? []);
    throw new ImageError(
      'ImageNotFound',
      `image "${this.name}": the layout has no such image; it has ${tags.length > 0 ? `the tags ${tags.join(', ')}` : 'no tags'}`,
    );
  }

  private async readIndex(signal: AbortSignal): Promise<Buffer> {
    try {
      return await readFile(join(this.directory, 'index.json'), { signal });
    } catch (error) {
      if (!isNotExist(error)) throw error;
      throw new ImageError(
        'ImageNotFound',
        `image "${this.name}": ${this.directory} is no OCI layout (no index.json)`,
      );
    }
  }

  private select(manifests: readonly Descriptor[]): Descriptor | undefined {
    const { tag, digest } = this.reference;
    const tagged = (name: string): Descriptor[] =>
      manifests.filter(
        ({ annotations }) =>
          annotations?.[refName] === name || annotations?.[refName]?.endsWith(`:${name}`) === true,
      );
    if (digest !== undefined) return manifests.find((entry) => entry.digest === digest);
    if (tag !== undefined) return tagged(tag)[0];
    return manifests.length === 1 ? manifests[0] : tagged('latest')[0];
  }

  async document(descriptor: Descriptor, signal: AbortSignal): Promise<ImageDocument> {
    const bytes = await readVerified(this.blob(descriptor, signal), descriptor, this.name);
    return { bytes, mediaType: descriptor.mediaType, digest: descriptor.digest };
  }

  async *blob(descriptor: Descriptor, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    const stream = createReadStream(blobPath(this.directory, descriptor.digest), {
      signal,
      highWaterMark: 256 * 1024,
    });
    try {
      // A stream without an encoding yields buffers.
      for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
    } catch (error) {
      if (!isNotExist(error)) throw error;
      throw new ImageError(
        'ImageNotFound',
        `image "${this.name}": the layout lacks the blob ${descriptor.digest}`,
      );
    } finally {
      stream.destroy();
    }
  }
}

export async function openLayout(reference: LayoutReference, roots: readonly string[]): Promise<ImageSource> {
  return new LayoutSource(reference, await locate(reference, roots));
}
