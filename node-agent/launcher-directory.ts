/** The directory of a launcher pod, in the shape of `podLayout`, wherever a node keeps it. The launcher owns it and is not trusted. */
import { join } from 'node:path';
import { finalStates, podLayout, type DomainStatus } from '../openapi/launcher/protocol.js';
import { readForeignTextIfPresent } from './files.js';

/** UIDs become directory names. */
export const uidPattern = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/;

export function checkedUid(uid: string): string {
  if (!uidPattern.test(uid)) throw new Error(`"${uid}" is not a UID`);
  return uid;
}

/** A status is some kilobytes, most of it what the guest agent tells. */
const longestStatus = 1024 ** 2;

export abstract class LauncherDirectory {
  protected constructor(readonly path: string) {}

  /** False once the launcher has ended and will not come again. */
  abstract isLauncherAlive(): Promise<boolean>;

  get controlSocket(): string {
    return join(this.path, podLayout.controlSocket);
  }

  /** The last status that the launcher left; undefined if none, or none that can be read. */
  async lastStatus(): Promise<DomainStatus | undefined> {
    try {
      const text = await readForeignTextIfPresent(join(this.path, podLayout.status), longestStatus);
      return text === undefined ? undefined : (JSON.parse(text) as DomainStatus);
    } catch {
      // A launcher writes it atomically; a damaged file, or something else in its place, says no more than a missing one.
      return undefined;
    }
  }

  async finalStatus(): Promise<DomainStatus | undefined> {
    const status = await this.lastStatus();
    return status !== undefined && finalStates.includes(status.state) ? status : undefined;
  }
}

/** Those of all launcher pods of one node, by the pod's UID. */
export interface LauncherDirectories {
  of(uid: string): LauncherDirectory;
}
