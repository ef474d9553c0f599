/** Files that change under a running process: certificates that somebody else renews. */
import { watch, type FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { belongTogether, type KeyPair } from '../../apiserver/pki/key-pair.js';
import { parseBundle } from '../../apiserver/pki/bundle.js';
import { systemClock, type Clock } from '../../controllers/runtime/clock.js';
import type { Logger } from '../../controllers/runtime/logger.js';

/** Several files of a change come one after the other. Milliseconds. */
const settleMs = 100;
/** Some file systems tell of no change, and links may lead to where nobody watches. */
const rereadMs = 60_000;

export interface WatchedFilesOptions<T> {
  readonly paths: readonly string[];
  /** Gets their texts in the same order. Throws if they are not what they should be: then what was there before goes on. */
  readonly parse: (...texts: string[]) => T;
  readonly logger: Logger;
  readonly clock?: Clock;
}

/**
 * Directories are watched rather than files: a Secret's volume changes by a new link `..data` in it, other writers rename
 * a new file over the old one.
 */
export class WatchedFiles<T> {
  readonly #listeners = new Set<() => void>();
  readonly #watchers: readonly FSWatcher[];
  readonly #clock: Clock;
  #cancel: () => void = () => undefined;
  #settling = false;
  #reading: Promise<void> = Promise.resolve();
  #lastFailure = '';

  private constructor(
    private readonly options: WatchedFilesOptions<T>,
    private texts: readonly string[],
    private value: T,
  ) {
    this.#clock = options.clock ?? systemClock;
    this.#watchers = this.#watch();
    this.#schedule(rereadMs);
  }

  /** Rejects if the files can not be used as they are now. */
  static async open<T>(options: WatchedFilesOptions<T>): Promise<WatchedFiles<T>> {
    const texts = await readAll(options.paths);
    return new WatchedFiles(options, texts, options.parse(...texts));
  }

  get current(): T {
    return this.value;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    for (const watcher of this.#watchers) watcher.close();
    this.#cancel();
    await this.#reading;
    this.#cancel();
  }

  #watch(): FSWatcher[] {
    const directories = new Set(this.options.paths.map((file) => path.dirname(path.resolve(file))));
    return [...directories].flatMap((directory) => {
      try {
        const watcher = watch(directory, () => {
          this.#settle();
        });
        watcher.on('error', (error) => {
          this.#note(error, 'changes of files are seen once a minute only');
        });
        return [watcher];
      } catch (error) {
        this.#note(error, 'changes of files are seen once a minute only');
        return [];
      }
    });
  }

  /** Counts from the first change: the directory may hold files that are written without pause. */
  #settle(): void {
    if (this.#settling) return;
    this.#settling = true;
    this.#schedule(settleMs);
  }

  #schedule(ms: number): void {
    this.#cancel();
    this.#cancel = this.#clock.timer(ms, () => {
      this.#reading = this.#reading.then(() => this.#read());
    });
  }

  async #read(): Promise<void> {
    this.#settling = false;
    this.#schedule(rereadMs);
    try {
      const texts = await readAll(this.options.paths);
      if (texts.every((text, index) => text === this.texts[index])) return;
      this.value = this.options.parse(...texts);
      this.texts = texts;
      this.#lastFailure = '';
      this.options.logger.info({ files: this.options.paths }, 'files have changed and were read again');
      for (const listener of this.#listeners) listener();
    } catch (error) {
      this.#note(error, 'changed files can not be used; what was read before goes on');
    }
  }

  /** Once: what is wrong stays wrong until somebody changes it. */
  #note(error: unknown, message: string): void {
    if (this.#lastFailure === String(error)) return;
    this.#lastFailure = String(error);
    this.options.logger.error({ err: error, files: this.options.paths }, message);
  }
}

function readAll(paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map((file) => readFile(file, 'utf8')));
}

export function watchKeyPair(
  certFile: string,
  keyFile: string,
  logger: Logger,
): Promise<WatchedFiles<KeyPair>> {
  return WatchedFiles.open({
    paths: [certFile, keyFile],
    parse: (cert = '', key = '') => {
      if (!belongTogether({ cert, key }))
        throw new Error(`${certFile} and ${keyFile} are no certificate and its key`);
      return { cert, key };
    },
    logger,
  });
}

/** A pair, and the authorities that the other side has to be of. */
export function watchCredentials(
  files: { readonly ca: string; readonly cert: string; readonly key: string },
  logger: Logger,
): Promise<WatchedFiles<KeyPair & { readonly ca: string }>> {
  return WatchedFiles.open({
    paths: [files.cert, files.key, files.ca],
    parse: (cert = '', key = '', ca = '') => {
      if (!belongTogether({ cert, key }))
        throw new Error(`${files.cert} and ${files.key} are no certificate and its key`);
      if (parseBundle(ca).length === 0) throw new Error(`${files.ca} holds no certificate`);
      return { cert, key, ca };
    },
    logger,
  });
}
