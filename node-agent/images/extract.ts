/**
 * Takes single files out of an image's layers, as the merged file system of the image would show them. Names from the
 * archives are only compared, never used as paths: content goes to files that this module names.
 */
import { createHash, randomBytes } from 'node:crypto';
import { open, rm, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { extract as tarExtract, type Header } from 'tar-stream';
import { errorCode } from '../files.js';
import { decompressInto } from './decompress.js';
import { ImageError } from './errors.js';
import { verified, type Descriptor, type ImageManifest, type ImageSource } from './manifest.js';

/** A file by its absolute path, or, with a `/` at the end, the only file under a directory. */
export type WantedPath = string;

export interface ExtractedFile {
  readonly temporaryPath: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/** An archive's entry: its header, and its content as a stream. */
type Entry = AsyncIterable<unknown> & { readonly header: Header; resume(): unknown };

type Found =
  | ({ readonly kind: 'file' } & ExtractedFile)
  /** In the way of what is wanted: a link, a device. An upper layer may still replace it. */
  | { readonly kind: 'refused'; readonly what: string };

type Tree = Map<string, Found>;

interface Context {
  readonly image: string;
  readonly wanted: readonly WantedPath[];
  readonly temporaryDirectory: string;
  readonly signal: AbortSignal;
}

/** `./disk//x` → `disk/x`; undefined for the root. */
function normalise(name: string): { path: string | undefined; escapes: boolean } {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return { path: parts.length === 0 ? undefined : parts.join('/'), escapes: parts.includes('..') };
}

function bare(wanted: WantedPath): string {
  return wanted.replace(/^\/+|\/+$/g, '');
}

/** The path is what is wanted or lies in it. */
function isWanted(path: string, wanted: readonly WantedPath[]): boolean {
  return wanted.some((entry) =>
    entry.endsWith('/') ? path.startsWith(`${bare(entry)}/`) : path === bare(entry),
  );
}

/** What is wanted lies under the path, or is it. */
function leadsToWanted(path: string, wanted: readonly WantedPath[]): boolean {
  return wanted.some((entry) => bare(entry) === path || bare(entry).startsWith(`${path}/`));
}

function removeTree(tree: Tree, path: string, { itself }: { itself: boolean }): void {
  for (const known of tree.keys()) {
    if ((itself && known === path) || known.startsWith(path === '' ? '' : `${path}/`)) tree.delete(known);
  }
}

const whiteout = '.wh.';
const opaqueWhiteout = '.wh..wh..opq';

/** Whiteouts hide what lower layers have; they never hide their own layer's files. */
function applyWhiteout(lower: Tree, path: string): boolean {
  const slash = path.lastIndexOf('/');
  const directory = path.slice(0, Math.max(slash, 0));
  const base = path.slice(slash + 1);
  if (!base.startsWith(whiteout)) return false;
  if (base === opaqueWhiteout) {
    removeTree(lower, directory, { itself: false });
  } else {
    const name = base.slice(whiteout.length);
    removeTree(lower, directory === '' ? name : `${directory}/${name}`, { itself: true });
  }
  return true;
}

function describe({ type, linkname }: Header): string {
  switch (type) {
    case 'symlink':
      return `a symbolic link to ${linkname}`;
    case 'link':
      return `a hard link to ${linkname}`;
    case 'block-device':
    case 'character-device':
      return 'a device';
    case 'fifo':
      return 'a named pipe';
    default:
      return `an entry of type ${type}`;
  }
}

function diskFull(image: string, directory: string, cause?: unknown): ImageError {
  return new ImageError(
    'DiskFull',
    `image "${image}": no space left on the node's disk under ${directory}; free some, or give the node a larger disk`,
    { cause },
  );
}

/** Refuses at once what cannot fit, in place of filling the disk first. */
export async function requireSpace(directory: string, bytes: number, image: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bytes <= bavail * bsize) return;
  throw new ImageError(
    'DiskFull',
    `image "${image}": needs ${bytes} bytes, and the node's disk has ${bavail * bsize} left under ${directory}`,
  );
}

const zeros = Buffer.alloc(64 * 1024);

function isZero(chunk: Buffer): boolean {
  for (let at = 0; at < chunk.length; at += zeros.length) {
    const end = Math.min(at + zeros.length, chunk.length);
    if (zeros.compare(chunk, at, end, 0, end - at) !== 0) return false;
  }
  return true;
}

/** Leaves holes where raw disk images have runs of zeros. */
async function writeSparse(file: FileHandle, content: AsyncIterable<Buffer>): Promise<ExtractedSize> {
  const hash = createHash('sha256');
  let position = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    for (let done = isZero(chunk) ? chunk.length : 0; done < chunk.length;) {
      done += (await file.write(chunk, done, chunk.length - done, position + done)).bytesWritten;
    }
    position += chunk.length;
  }
  await file.truncate(position);
  return { size: position, digest: `sha256:${hash.digest('hex')}` };
}

type ExtractedSize = Pick<ExtractedFile, 'size' | 'digest'>;

async function writeEntry(entry: Entry, context: Context): Promise<ExtractedFile> {
  const { temporaryDirectory, image } = context;
  await requireSpace(temporaryDirectory, entry.header.size, image);
  const temporaryPath = join(temporaryDirectory, randomBytes(12).toString('hex'));
  const file = await open(temporaryPath, 'wx', 0o600);
  try {
    // Entries are byte streams: they yield buffers.
    const extracted = await writeSparse(file, entry as AsyncIterable<Buffer>);
    await file.sync();
    return { temporaryPath, ...extracted };
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw errorCode(error) === 'ENOSPC' ? diskFull(image, temporaryDirectory, error) : error;
  } finally {
    await file.close();
  }
}

async function takeEntry(entry: Entry, lower: Tree, current: Tree, context: Context): Promise<void> {
  const { image, wanted } = context;
  const { header } = entry;
  const { path, escapes } = normalise(header.name);
  if (escapes) {
    throw new ImageError(
      'UnsafeEntry',
      `image "${image}": a layer names "${header.name}", which leaves its root`,
    );
  }
  if (path === undefined || applyWhiteout(lower, path)) return;
  const inside = isWanted(path, wanted);
  if (header.type === 'directory') {
    // A directory where a lower layer had a file.
    lower.delete(path);
    return;
  }
  if (!inside && !leadsToWanted(path, wanted)) return;
  removeTree(lower, path, { itself: true });
  removeTree(current, path, { itself: true });
  const isFile = header.type === 'file' || header.type === 'contiguous-file';
  if (!isFile) current.set(path, { kind: 'refused', what: describe(header) });
  else if (inside) current.set(path, { kind: 'file', ...(await writeEntry(entry, context)) });
}

/** The failed side and what it drags along both report; the typed error is the cause. */
function causeOf(failures: readonly unknown[], image: string): unknown {
  const typed =
    failures.find((error) => error instanceof ImageError) ?? failures.find((error) => errorCode(error));
  if (typed !== undefined) return typed;
  const [first] = failures;
  const message = first instanceof Error ? first.message : String(first);
  return new ImageError('Malformed', `image "${image}": a layer is not a tar archive: ${message}`, {
    cause: first,
  });
}

async function readLayer(
  source: ImageSource,
  layer: Descriptor,
  lower: Tree,
  context: Context,
): Promise<void> {
  const { image, signal } = context;
  const current: Tree = new Map();
  const tar = tarExtract();
  const take = async (): Promise<void> => {
    for await (const entry of tar) {
      await takeEntry(entry, lower, current, context);
      entry.resume();
    }
  };
  const stop = new AbortController();
  const feeding = decompressInto(
    verified(source.blob(layer, AbortSignal.any([signal, stop.signal])), layer, image),
    tar,
    image,
    AbortSignal.any([signal, stop.signal]),
  );
  // Whichever side fails first must stop the other.
  const failures: unknown[] = [];
  const note = (error: unknown): void => {
    failures.push(error);
    stop.abort();
    tar.destroy();
  };
  await Promise.all([feeding.catch(note), take().catch(note)]);
  signal.throwIfAborted();
  if (failures.length > 0) throw causeOf(failures, image);
  for (const [path, found] of current) lower.set(path, found);
}

function pick(tree: Tree, wanted: WantedPath, image: string): ExtractedFile {
  const path = bare(wanted);
  const parents = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  for (const parent of wanted.endsWith('/') ? parents : parents.slice(0, -1)) {
    const found = tree.get(parent);
    if (found === undefined) continue;
    const what = found.kind === 'refused' ? found.what : 'a file';
    throw new ImageError('UnsafeEntry', `image "${image}": /${parent} is ${what}; it must be a directory`);
  }
  const matches = [...tree].filter(([known]) => isWanted(known, [wanted]));
  const [match, second] = matches;
  if (match === undefined) {
    const hint = wanted.endsWith('/')
      ? `has no disk: put one file into the directory /${path}`
      : `has no file /${path}`;
    throw new ImageError('NoDisk', `image "${image}" ${hint}`);
  }
  if (second !== undefined) {
    const names = matches.map(([known]) => `/${known}`).sort();
    throw new ImageError(
      'AmbiguousDisk',
      `image "${image}" has several files under /${path}: ${names.slice(0, 5).join(', ')}; name one as path`,
    );
  }
  const [name, found] = match;
  if (found.kind === 'file') return found;
  throw new ImageError(
    'UnsafeEntry',
    `image "${image}": /${name} is ${found.what}; it must be a regular file`,
  );
}

/**
 * The wanted files, as temporary files in `temporaryDirectory` that the caller then owns. Every layer's digest is
 * checked before this resolves; if it rejects, it leaves nothing behind but files of the directory that the caller clears.
 */
export async function extractFiles(
  source: ImageSource,
  manifest: ImageManifest,
  wanted: readonly WantedPath[],
  temporaryDirectory: string,
  signal: AbortSignal,
): Promise<Map<WantedPath, ExtractedFile>> {
  const context: Context = { image: source.name, wanted, temporaryDirectory, signal };
  const tree: Tree = new Map();
  for (const layer of manifest.layers) await readLayer(source, layer, tree, context);
  return new Map(wanted.map((path) => [path, pick(tree, path, source.name)]));
}
