/** A file system tree in memory, and what a tree is made of. Everything in it belongs to root. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, symlink, writeFile, chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type Entry =
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'file'; readonly mode: number; readonly data: Buffer }
  | { readonly kind: 'symlink'; readonly target: string }
  | {
      readonly kind: 'characterDevice';
      readonly mode: number;
      readonly major: number;
      readonly minor: number;
    };

export class Tree {
  private readonly entries = new Map<string, Entry>();

  /** Paths are absolute in the guest; missing parents become directories. */
  set(path: string, entry: Entry): void {
    const parent = dirname(path);
    if (parent !== '/' && !this.entries.has(parent)) this.set(parent, { kind: 'directory', mode: 0o755 });
    this.entries.set(path, entry);
  }

  file(path: string, data: Buffer | string, mode = 0o644): void {
    this.set(path, { kind: 'file', mode, data: Buffer.from(data) });
  }

  directory(path: string, mode = 0o755): void {
    this.set(path, { kind: 'directory', mode });
  }

  symlink(path: string, target: string): void {
    this.set(path, { kind: 'symlink', target });
  }

  has(path: string): boolean {
    return this.entries.has(path);
  }

  /** Sorted, so that parents come before their children and equal trees give equal bytes. */
  *[Symbol.iterator](): Generator<[string, Entry]> {
    yield* [...this.entries].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Copies a directory of the host into the tree at `prefix`. Of modes only the execute bit counts, as in git. */
  overlay(directory: string, prefix = ''): void {
    for (const name of readdirSync(directory).sort()) {
      const source = join(directory, name);
      const path = `${prefix}/${name}`;
      const found = lstatSync(source);
      if (found.isDirectory()) {
        if (!this.has(path)) this.directory(path);
        this.overlay(source, path);
      } else if (found.isSymbolicLink()) this.symlink(path, readlinkSync(source));
      else this.file(path, readFileSync(source), found.mode & 0o100 ? 0o755 : 0o644);
    }
  }

  chmod(path: string, mode: number): void {
    const entry = this.entries.get(path);
    if (entry === undefined || entry.kind === 'symlink')
      throw new Error(`no file or directory ${path} in the tree`);
    this.entries.set(path, { ...entry, mode });
  }

  /** Writes files, directories and symbolic links below `directory`; device nodes would need root and are left out. */
  async writeTo(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true });
    for (const [path, entry] of this) {
      const target = join(directory, path);
      if (entry.kind === 'directory') await mkdir(target, { mode: entry.mode });
      else if (entry.kind === 'symlink') await symlink(entry.target, target);
      else if (entry.kind === 'file') {
        await writeFile(target, entry.data);
        // A process's umask and a write both change modes.
        await chmod(target, entry.mode);
      }
    }
  }
}
