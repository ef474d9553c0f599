/** Which pod has which addresses, remembered in a file. The same place in both ranges is a pod's IPv4 and IPv6 address. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addressAt, sizeOf, type AddressRange } from '../../openapi/ip-address.js';
import { readTextIfPresent, writeFileAtomic } from '../files.js';
import { NetworkError } from './interface.js';

/** The first address is the network's, the second the node's. */
const firstPlace = 2;

interface Contents {
  /** Where to look for the next free place: an address that was given back stays unused for as long as there are others. */
  readonly next: number;
  /** Places by pod UID. */
  readonly taken: Readonly<Record<string, number>>;
}

export class AddressPool {
  private contents: Contents | undefined;
  /** Writes happen one after another. */
  private last: Promise<unknown> = Promise.resolve();

  /** @param ranges one or two, of different families; IPv4 first */
  constructor(
    private readonly file: string,
    private readonly ranges: readonly AddressRange[],
  ) {}

  /** Addresses of a pod with their prefix lengths: those that it has, or new ones. Rejects with `NetworkError` if none is free. */
  take(podUid: string): Promise<readonly string[]> {
    return this.exclusively(async () => {
      const contents = await this.read();
      const known = contents.taken[podUid];
      if (known !== undefined) return this.addressesAt(known);
      const place = this.freePlace(contents);
      await this.write({ next: place + 1, taken: { ...contents.taken, [podUid]: place } });
      return this.addressesAt(place);
    });
  }

  release(podUid: string): Promise<void> {
    return this.exclusively(async () => {
      const { next, taken } = await this.read();
      if (taken[podUid] === undefined) return;
      await this.write({
        next,
        taken: Object.fromEntries(Object.entries(taken).filter(([uid]) => uid !== podUid)),
      });
    });
  }

  /** UIDs of the pods that have addresses. */
  pods(): Promise<readonly string[]> {
    return this.exclusively(async () => Object.keys((await this.read()).taken));
  }

  /** The node's own, with prefix lengths. */
  get gateways(): readonly string[] {
    return this.addressesAt(1);
  }

  private addressesAt(place: number): readonly string[] {
    return this.ranges.map((range) => `${addressAt(range, place)}/${range.prefixLength}`);
  }

  private freePlace({ next, taken }: Contents): number {
    const used = new Set(Object.values(taken));
    // The last address of an IPv4 range is for broadcasts.
    const sizes = this.ranges.map((range) => sizeOf(range) - (range.family === 4 ? 1n : 0n));
    const end = Number(
      sizes.reduce((least, size) => (size < least ? size : least), BigInt(Number.MAX_SAFE_INTEGER)),
    );
    for (let tried = 0; tried <= used.size; tried++) {
      const place = firstPlace + ((next - firstPlace + tried) % (end - firstPlace));
      if (!used.has(place)) return place;
    }
    throw new NetworkError(`all ${end - firstPlace} addresses of the pods' network are in use`);
  }

  private async read(): Promise<Contents> {
    if (this.contents === undefined) {
      const text = await readTextIfPresent(this.file);
      // Written whole by `write` only.
      this.contents = text === undefined ? { next: firstPlace, taken: {} } : (JSON.parse(text) as Contents);
    }
    return this.contents;
  }

  private async write(contents: Contents): Promise<void> {
    await mkdir(dirname(this.file), { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.file, JSON.stringify(contents), { durable: true });
    this.contents = contents;
  }

  private exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}
