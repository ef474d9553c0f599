/** Where a launcher pod keeps its files on the node: `<data>/pods/<pod uid>/`, in the shape of `podLayout`. */
import { chmod, chown, mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { podLayout } from '../openapi/launcher/protocol.js';
import { isNotExist, readTextIfPresent, writeFileAtomic } from './files.js';
import { checkedUid, LauncherDirectory, uidPattern, type LauncherDirectories } from './launcher-directory.js';
import {
  commandLine,
  isAlive,
  processesIn,
  sendSignal,
  type ProcessIdentity,
  type ProcessInfo,
} from './processes.js';

/** Written by the pod runtime beside what `podLayout` names. */
const launcherPidFile = 'launcher.json';
/** Written once all volumes and images are in place: digests of the images, by container. */
const preparedFile = 'prepared.json';

/** Milliseconds. A process that SIGKILL has not ended by then waits in the kernel, for a dead disk perhaps. */
const longestPause = 3000;

export class PodDirectory extends LauncherDirectory {
  constructor(root: string, uid: string) {
    super(join(root, checkedUid(uid)));
  }

  get log(): string {
    return join(this.path, podLayout.log);
  }

  volume(name: string): string {
    return join(this.path, podLayout.volumes, name);
  }

  get kernelBoot(): string {
    return join(this.path, podLayout.kernelBoot);
  }

  /** @param group whose launcher runs in it: it may make files of its own there, and touch no other */
  async create(group?: number): Promise<void> {
    await mkdir(join(this.path, podLayout.volumes), { recursive: true, mode: 0o700 });
    if (group === undefined) return;
    await chown(this.path, -1, group);
    await chmod(this.path, 0o1770);
    await chmod(join(this.path, podLayout.volumes), 0o755);
  }

  /** Removes everything; links to volumes elsewhere are removed, never followed. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async removeVolumeEntries(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(this.volume(name), { recursive: true, force: true });
  }

  async recordLauncher(identity: ProcessIdentity): Promise<void> {
    const { pid, startTime, bootId } = identity;
    await writeFileAtomic(join(this.path, launcherPidFile), JSON.stringify({ pid, startTime, bootId }));
  }

  /** The launcher that was started here, running or not. */
  async recordedLauncher(): Promise<ProcessIdentity | undefined> {
    const text = await readTextIfPresent(join(this.path, launcherPidFile));
    // Written whole by `recordLauncher` only.
    return text === undefined ? undefined : (JSON.parse(text) as ProcessIdentity);
  }

  async recordPrepared(images: ReadonlyMap<string, string>): Promise<void> {
    await writeFileAtomic(join(this.path, preparedFile), JSON.stringify(Object.fromEntries(images)));
  }

  /** Undefined if the pod's preparation was never finished. */
  async preparedImages(): Promise<ReadonlyMap<string, string> | undefined> {
    const text = await readTextIfPresent(join(this.path, preparedFile));
    // Written whole by `recordPrepared` only.
    return text === undefined
      ? undefined
      : new Map(Object.entries(JSON.parse(text) as Record<string, string>));
  }

  /**
   * Running processes that belong to the pod: those that work in its directory and are in the launcher's session, or are
   * QEMU, or name the directory in their arguments (a launcher that was started but not recorded any more). A person's
   * shell that happens to stand there is left alone.
   */
  async processes(): Promise<ProcessInfo[]> {
    let directory: string;
    try {
      directory = await realpath(this.path);
    } catch (error) {
      if (isNotExist(error)) return [];
      throw error;
    }
    const launcher = await this.recordedLauncher();
    const qemu = await this.qemuPid();
    const belongs = await Promise.all(
      (await processesIn(directory)).map(async (found) => {
        const { pid, session, command } = found;
        if (pid === process.pid) return undefined;
        if (session === launcher?.pid || pid === qemu || command.startsWith('qemu-')) return found;
        return (await commandLine(pid)).includes(this.path) ? found : undefined;
      }),
    );
    return belongs.filter((found) => found !== undefined);
  }

  private async qemuPid(): Promise<number | undefined> {
    try {
      return Number((await readFile(join(this.path, podLayout.qemuPidFile), 'utf8')).trim());
    } catch (error) {
      if (isNotExist(error)) return undefined;
      throw error;
    }
  }

  /** Kills whatever of the pod still runs, and waits until it is gone. Resolves with how many processes that were. */
  async killProcesses(): Promise<number> {
    const killed = new Set<number>();
    // Again until none is found: a dying launcher may just have started QEMU, and death takes a moment of which no event
    // tells, as they are not our children.
    for (let pause = 5; pause < longestPause; pause *= 2) {
      const processes = await this.processes();
      if (processes.length === 0) break;
      for (const identity of processes) {
        killed.add(identity.pid);
        await sendSignal(identity, 'SIGKILL');
      }
      await delay(pause);
    }
    return killed.size;
  }

  async isLauncherAlive(): Promise<boolean> {
    const launcher = await this.recordedLauncher();
    return launcher !== undefined && (await isAlive(launcher));
  }
}

/** All pods of one node that runs them as processes. */
export class PodDirectories implements LauncherDirectories {
  constructor(readonly root: string) {}

  of(uid: string): PodDirectory {
    return new PodDirectory(this.root, uid);
  }

  async create(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o711 });
  }

  /** UIDs of the pods that have a directory. */
  async list(): Promise<string[]> {
    try {
      return (await readdir(this.root)).filter((name) => uidPattern.test(name));
    } catch (error) {
      if (isNotExist(error)) return [];
      throw error;
    }
  }
}
