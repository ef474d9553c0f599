/** The files of an image's layer: what is where, without the accidents of the machine that they come from. */

export type FileEntry =
  | { readonly type: 'file'; readonly executable: boolean; readonly content: Buffer }
  | { readonly type: 'symlink'; readonly target: string }
  /** `sticky`: anyone may write there, and remove what is theirs. */
  | { readonly type: 'directory'; readonly sticky?: true };

/** Debian has merged these into /usr; not all packages know. */
const merged = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** Paths are relative to the image's root, without a leading slash. */
export class FileTree {
  readonly #entries = new Map<string, FileEntry>();

  /** Replaces what was there. Throws on a path that leaves the root. */
  add(path: string, entry: FileEntry): void {
    const place = normalize(path);
    if (place !== '' && !(entry.type === 'directory' && merged.includes(place)))
      this.#entries.set(place, entry);
  }

  get(path: string): FileEntry | undefined {
    return this.#entries.get(normalize(path));
  }

  addFile(path: string, content: Buffer | string, executable = false): void {
    this.add(path, { type: 'file', executable, content: Buffer.from(content) });
  }

  /** All entries and the directories above them, each directory before what is in it. */
  entries(): [string, FileEntry][] {
    const all = new Map(this.#entries);
    for (const path of this.#entries.keys()) {
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const above = path.slice(0, end);
        if (!all.has(above)) all.set(above, { type: 'directory' });
      }
    }
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

function normalize(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new Error(`${path} leaves the image's root`);
  if (parts.length > 1 && merged.includes(parts[0] ?? '')) parts.unshift('usr');
  return parts.join('/');
}

/** The links that take the place of what is merged into /usr. */
export function addMergedLinks(tree: FileTree): void {
  for (const name of ['bin', 'sbin', 'lib', 'lib64'])
    tree.add(name, { type: 'symlink', target: `usr/${name}` });
}
