/** What an import has written so far: by that the next run knows which objects are its own and may be brought up to date. */
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** One line of JSON each; the last one of a key counts. */
interface Line {
  readonly key: string;
  /** The store's, of the import's own write. */
  readonly revision: number;
}

/** Lines are on disk after so many. Losing the last ones costs a conflict that has to be looked at, never an object. */
const linesPerSync = 256;

export class Journal {
  #unsynced = 0;

  private constructor(
    private readonly file: FileHandle,
    private readonly revisions: Map<string, number>,
  ) {}

  static async open(path: string): Promise<Journal> {
    const file = await open(path, 'a', 0o600);
    const revisions = new Map<string, number>();
    for await (const text of createInterface({ input: createReadStream(path) })) {
      const line = parseLine(text);
      if (line !== undefined) revisions.set(line.key, line.revision);
    }
    return new Journal(file, revisions);
  }

  /** Of the import's last write of the key; undefined if it has not written it. */
  revisionOf(key: string): number | undefined {
    return this.revisions.get(key);
  }

  async add(key: string, revision: number): Promise<void> {
    this.revisions.set(key, revision);
    await this.file.appendFile(`${JSON.stringify({ key, revision } satisfies Line)}\n`);
    this.#unsynced += 1;
    if (this.#unsynced < linesPerSync) return;
    this.#unsynced = 0;
    await this.file.sync();
  }

  async close(): Promise<void> {
    await this.file.sync();
    await this.file.close();
  }
}

/** Undefined for a line that was cut short when the process ended. */
function parseLine(text: string): Line | undefined {
  try {
    const { key, revision } = JSON.parse(text) as Partial<Line>;
    return typeof key === 'string' && typeof revision === 'number' ? { key, revision } : undefined;
  } catch {
    return undefined;
  }
}
