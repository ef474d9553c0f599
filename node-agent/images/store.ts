/**
 * What images have left on this node: the extracted files, by the digest of their content, and records of which image
 * they came from. One process at a time uses a store.
 *
 *     files/<hex>             content, read only; hard links of it are the pods' disks
 *     manifests/<hex>.json    ManifestRecord; its modification time is when the image was last used
 *     references/<hex>.json   ReferenceRecord, named by the hash of the reference
 *     tmp/                    downloads; cleared at start
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isNotExist, syncDirectory, writeFileAtomic } from '../files.js';
import type { ExtractedFile, WantedPath } from './extract.js';

interface FileRecord {
  readonly digest: string;
  readonly size: number;
}

interface ManifestRecord {
  readonly digest: string;
  readonly files: Readonly<Record<WantedPath, FileRecord>>;
}

interface ReferenceRecord {
  readonly reference: string;
  /** Digest of the manifest for this platform. */
  readonly manifest: string;
}

export interface StoredFile extends FileRecord {
  readonly path: string;
}

export interface StoredImage {
  readonly names: readonly string[];
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly lastUsed: number;
}

export interface GarbageReport {
  readonly images: readonly string[];
  readonly freedBytes: number;
}

interface Known {
  record: ManifestRecord;
  lastUsed: number;
}

/** An image just used is never garbage: a pod may be about to link its files. */
const minimumAgeMilliseconds = 2 * 60 * 1000;

function hex(digest: string): string {
  return digest.slice('sha256:'.length);
}

function referenceName(reference: string): string {
  return createHash('sha256').update(reference).digest('hex');
}

/** Records are written whole, and by this class only. */
async function readRecords(directory: string): Promise<{ path: string; value: unknown }[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.json'));
  return Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      return { path, value: JSON.parse(await readFile(path, 'utf8')) as unknown };
    }),
  );
}

export class ImageStore {
  private readonly manifests = new Map<string, Known>();
  private readonly references = new Map<string, ReferenceRecord>();

  private constructor(
    private readonly directory: string,
    private readonly now: () => number,
  ) {}

  static async open(directory: string, now: () => number = Date.now): Promise<ImageStore> {
    const store = new ImageStore(directory, now);
    await rm(join(directory, 'tmp'), { recursive: true, force: true });
    for (const name of ['files', 'manifests', 'references', 'tmp']) {
      await mkdir(join(directory, name), { recursive: true, mode: 0o700 });
    }
    await store.load();
    return store;
  }

  private async load(): Promise<void> {
    for (const { path, value } of await readRecords(join(this.directory, 'manifests'))) {
      const record = value as ManifestRecord;
      this.manifests.set(record.digest, { record, lastUsed: (await stat(path)).mtimeMs });
    }
    for (const { value } of await readRecords(join(this.directory, 'references'))) {
      const record = value as ReferenceRecord;
      this.references.set(record.reference, record);
    }
    // Left by an end between moving a file in and recording it.
    const recorded = this.recordedFiles();
    for (const name of await readdir(join(this.directory, 'files'))) {
      if (!recorded.has(`sha256:${name}`)) await rm(this.filePath(`sha256:${name}`), { force: true });
    }
  }

  private recordedFiles(): Set<string> {
    return new Set(
      [...this.manifests.values()].flatMap(({ record }) =>
        Object.values(record.files).map(({ digest }) => digest),
      ),
    );
  }

  private filePath(digest: string): string {
    return join(this.directory, 'files', hex(digest));
  }

  private manifestPath(digest: string): string {
    return join(this.directory, 'manifests', `${hex(digest)}.json`);
  }

  /** Digest of the manifest that the reference meant when it was last pulled. */
  resolve(reference: string): string | undefined {
    return this.references.get(reference)?.manifest;
  }

  /** The image's wanted files, if all are here. Counts as a use. */
  async find(
    manifest: string,
    wanted: readonly WantedPath[],
  ): Promise<ReadonlyMap<WantedPath, StoredFile> | undefined> {
    const known = this.manifests.get(manifest);
    if (known === undefined) return undefined;
    const files = new Map<WantedPath, StoredFile>();
    for (const path of wanted) {
      const record = known.record.files[path];
      if (record === undefined) return undefined;
      const stored = { ...record, path: this.filePath(record.digest) };
      if (!(await this.isIntact(stored))) return undefined;
      files.set(path, stored);
    }
    await this.touch(manifest, known);
    return files;
  }

  private async isIntact({ path, size }: StoredFile): Promise<boolean> {
    try {
      return (await stat(path)).size === size;
    } catch (error) {
      if (isNotExist(error)) return false;
      throw error;
    }
  }

  private async touch(manifest: string, known: Known): Promise<void> {
    known.lastUsed = this.now();
    const seconds = known.lastUsed / 1000;
    await utimes(this.manifestPath(manifest), seconds, seconds);
  }

  /** A fresh directory on the store's file system; its user removes it. */
  async temporaryDirectory(): Promise<string> {
    return mkdtemp(join(this.directory, 'tmp', 'pull-'));
  }

  /** Takes over extracted files. A file is complete and on disk before a record names it. */
  async add(manifest: string, extracted: ReadonlyMap<WantedPath, ExtractedFile>): Promise<void> {
    for (const { temporaryPath, digest } of extracted.values()) {
      await chmod(temporaryPath, 0o444);
      await rename(temporaryPath, this.filePath(digest)).catch((error: unknown) => {
        // Two wanted paths with the same content: the first rename moved it.
        if (!isNotExist(error)) throw error;
      });
    }
    await syncDirectory(join(this.directory, 'files'));
    const before = this.manifests.get(manifest)?.record.files ?? {};
    const added = [...extracted].map(([path, { digest, size }]) => [path, { digest, size }] as const);
    const record: ManifestRecord = {
      digest: manifest,
      files: { ...before, ...(Object.fromEntries(added) as Record<WantedPath, FileRecord>) },
    };
    await writeFileAtomic(this.manifestPath(manifest), JSON.stringify(record), { durable: true });
    this.manifests.set(manifest, { record, lastUsed: this.now() });
  }

  async setReference(reference: string, manifest: string): Promise<void> {
    if (this.references.get(reference)?.manifest === manifest) return;
    const record: ReferenceRecord = { reference, manifest };
    const path = join(this.directory, 'references', `${referenceName(reference)}.json`);
    await writeFileAtomic(path, JSON.stringify(record), { durable: true });
    this.references.set(reference, record);
  }

  list(): StoredImage[] {
    const names = new Map<string, string[]>();
    for (const { reference, manifest } of this.references.values()) {
      names.set(manifest, [...(names.get(manifest) ?? []), reference]);
    }
    return [...this.manifests].map(([digest, { record, lastUsed }]) => ({
      names: (names.get(digest) ?? []).sort(),
      digest,
      size: Object.values(record.files).reduce((sum, { size }) => sum + size, 0),
      lastUsed,
    }));
  }

  /** Removes images that no pod's disk links to, the longest unused first, until `bytes` are freed. */
  async collectGarbage(bytes = Number.POSITIVE_INFINITY): Promise<GarbageReport> {
    const images: string[] = [];
    let freedBytes = 0;
    const oldest = [...this.manifests].sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    for (const [digest, { record, lastUsed }] of oldest) {
      if (freedBytes >= bytes || this.now() - lastUsed < minimumAgeMilliseconds) break;
      if (await this.isLinked(record)) continue;
      freedBytes += await this.remove(digest, record);
      images.push(digest);
    }
    return { images, freedBytes };
  }

  private async isLinked({ files }: ManifestRecord): Promise<boolean> {
    for (const { digest } of Object.values(files)) {
      try {
        if ((await stat(this.filePath(digest))).nlink > 1) return true;
      } catch (error) {
        if (!isNotExist(error)) throw error;
      }
    }
    return false;
  }

  private async remove(digest: string, { files }: ManifestRecord): Promise<number> {
    this.manifests.delete(digest);
    for (const [reference, { manifest }] of this.references) {
      if (manifest !== digest) continue;
      this.references.delete(reference);
      await rm(join(this.directory, 'references', `${referenceName(reference)}.json`), { force: true });
    }
    await rm(this.manifestPath(digest), { force: true });
    const shared = this.recordedFiles();
    let freed = 0;
    for (const file of new Map(Object.values(files).map((record) => [record.digest, record])).values()) {
      if (shared.has(file.digest)) continue;
      await rm(this.filePath(file.digest), { force: true });
      freed += file.size;
    }
    return freed;
  }
}
