/** Manifests and indexes of the OCI image specification and of Docker's registry, read without trust. */
import { createHash } from 'node:crypto';
import { ImageError } from './errors.js';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

/** A document as it came, with what its bytes hash to. */
export interface ImageDocument {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly digest: string;
}

export interface ImageManifest {
  readonly digest: string;
  readonly layers: readonly Descriptor[];
}

/** Where an image comes from. Content is unverified: callers check digests. */
export interface ImageSource {
  /** How messages call the image. */
  readonly name: string;
  /** The document that the reference's tag or digest means. */
  resolve(signal: AbortSignal): Promise<ImageDocument>;
  document(descriptor: Descriptor, signal: AbortSignal): Promise<ImageDocument>;
  blob(descriptor: Descriptor, signal: AbortSignal): AsyncIterable<Buffer>;
}

/** A manifest is a few kilobytes; registries refuse more than this themselves. */
export const maximumManifestSize = 4 * 1024 * 1024;

const indexTypes = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const manifestTypes = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]);
export const acceptedManifestTypes = [...manifestTypes, ...indexTypes].join(', ');

export function sha256(data: Uint8Array): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readPlatform(value: unknown): Platform | undefined {
  if (!isRecord(value)) return undefined;
  const { os, architecture } = value;
  return typeof os === 'string' && typeof architecture === 'string' ? { os, architecture } : undefined;
}

function readAnnotations(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

export function readDescriptor(value: unknown, image: string, field: string): Descriptor {
  if (!isRecord(value)) throw new ImageError('Malformed', `image "${image}": ${field} is not an object`);
  const { mediaType, digest, size } = value;
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new ImageError(
      'Malformed',
      `image "${image}": ${field}.digest ${JSON.stringify(digest)} is not a sha256 digest`,
    );
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw new ImageError('Malformed', `image "${image}": ${field}.size is not a number of bytes`);
  }
  const platform = readPlatform(value['platform']);
  return {
    mediaType: typeof mediaType === 'string' ? mediaType : '',
    digest,
    size,
    annotations: readAnnotations(value['annotations']),
    ...(platform === undefined ? {} : { platform }),
  };
}

export function readList(value: unknown, image: string, field: string): Descriptor[] {
  if (!Array.isArray(value)) throw new ImageError('Malformed', `image "${image}": ${field} is not a list`);
  return value.map((item, index) => readDescriptor(item, image, `${field}[${index}]`));
}

export function parseDocument(bytes: Buffer, image: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new ImageError('Malformed', `image "${image}": its manifest is not JSON`, { cause: error });
  }
  if (!isRecord(value)) throw new ImageError('Malformed', `image "${image}": its manifest is not an object`);
  return value;
}

function selectPlatform(manifests: readonly Descriptor[], platform: Platform, image: string): Descriptor {
  const fits = manifests.find(
    (entry) => entry.platform?.os === platform.os && entry.platform.architecture === platform.architecture,
  );
  // Single-platform indexes written by simple tools carry no platform at all.
  const unlabelled = manifests.filter((entry) => entry.platform === undefined);
  const chosen = fits ?? (unlabelled.length === 1 ? unlabelled[0] : undefined);
  if (chosen !== undefined) return chosen;
  const offered = manifests.flatMap(({ platform: has }) => (has ? [`${has.os}/${has.architecture}`] : []));
  throw new ImageError(
    'PlatformNotFound',
    `image "${image}" is not built for ${platform.os}/${platform.architecture}` +
      (offered.length > 0 ? `, only for ${offered.join(', ')}` : ''),
  );
}

/** Follows indexes from the reference's document down to the manifest for `platform`. */
export async function resolveManifest(
  source: ImageSource,
  top: ImageDocument,
  platform: Platform,
  signal: AbortSignal,
): Promise<ImageManifest> {
  let document = top;
  for (let depth = 0; depth < 4; depth++) {
    const body = parseDocument(document.bytes, source.name);
    const declared = typeof body['mediaType'] === 'string' ? body['mediaType'] : document.mediaType;
    if (indexTypes.has(declared) || Array.isArray(body['manifests'])) {
      const next = selectPlatform(
        readList(body['manifests'], source.name, 'manifests'),
        platform,
        source.name,
      );
      document = await source.document(next, signal);
    } else if (manifestTypes.has(declared) || Array.isArray(body['layers'])) {
      return { digest: document.digest, layers: readList(body['layers'], source.name, 'layers') };
    } else {
      throw new ImageError(
        'Unsupported',
        `image "${source.name}": manifests of type "${declared}" are not supported; push it as an OCI image or with ` +
          "Docker's manifest version 2",
      );
    }
  }
  throw new ImageError('Malformed', `image "${source.name}": indexes are nested too deep`);
}

/** Passes content on and fails, at the latest at its end, if it is not what the descriptor says. */
export async function* verified(
  content: AsyncIterable<Buffer>,
  descriptor: Descriptor,
  image: string,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > descriptor.size) break;
    hash.update(chunk);
    yield chunk;
  }
  if (size !== descriptor.size) {
    throw new ImageError(
      'DigestMismatch',
      `image "${image}": ${descriptor.digest} should have ${descriptor.size} bytes and has ${size > descriptor.size ? 'more' : size}`,
    );
  }
  const actual = `sha256:${hash.digest('hex')}`;
  if (actual !== descriptor.digest) {
    throw new ImageError(
      'DigestMismatch',
      `image "${image}": content of ${descriptor.digest} hashes to ${actual}; the image is damaged where it is stored`,
    );
  }
}

/** Reads a whole document with its checks. */
export async function readVerified(
  content: AsyncIterable<Buffer>,
  descriptor: Descriptor,
  image: string,
): Promise<Buffer> {
  if (descriptor.size > maximumManifestSize) {
    throw new ImageError(
      'Malformed',
      `image "${image}": a manifest of ${descriptor.size} bytes is too large`,
    );
  }
  const chunks: Buffer[] = [];
  for await (const chunk of verified(content, descriptor, image)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
