/** What an agent has to know of a pod's network after a restart, and can not read from its namespace any more. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isNotExist, readTextIfPresent, writeFileAtomic } from '../files.js';
import type { ProcessIdentity } from '../processes.js';
import type { Route } from './links.js';

/** A pod's interface before its addresses became the guest's. */
export interface HandedOver {
  readonly mac: string;
  /** With their prefix lengths, link-local ones left out. */
  readonly addresses: readonly string[];
  readonly routes: readonly Route[];
}

export interface PodState {
  /** By name of the pod's interface. */
  readonly handedOver: Readonly<Record<string, HandedOver>>;
  /** By name of the bridge. */
  readonly relays: Readonly<Record<string, ProcessIdentity>>;
}

export const emptyState: PodState = { handedOver: {}, relays: {} };

const suffix = '.json';

export class PodStates {
  constructor(private readonly directory: string) {}

  async read(podUid: string): Promise<PodState> {
    const text = await readTextIfPresent(this.fileOf(podUid));
    // Written whole by `write` only.
    return text === undefined ? emptyState : (JSON.parse(text) as PodState);
  }

  /** Outlives a power failure no less than the namespace does: not at all. */
  async write(podUid: string, state: PodState): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.fileOf(podUid), JSON.stringify(state));
  }

  async remove(podUid: string): Promise<void> {
    await rm(this.fileOf(podUid), { force: true });
  }

  async list(): Promise<readonly string[]> {
    try {
      const names = await readdir(this.directory);
      return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));
    } catch (error) {
      if (isNotExist(error)) return [];
      throw error;
    }
  }

  private fileOf(podUid: string): string {
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(podUid)) throw new Error(`"${podUid}" is not a UID`);
    return join(this.directory, `${podUid}${suffix}`);
  }
}
