/** Finds the process of a container that the node's runtime has started, from /proc: cgroup v1 and v2, any driver. */
import { readdir, readFile } from 'node:fs/promises';
import { errorCode, isNotExist } from '../files.js';

/** 64 hexadecimal digits with containerd and CRI-O. */
const idPattern = /^[0-9a-zA-Z_-]{12,}$/;

/**
 * The oldest process of a container, the one that it was started with.
 * @param containerID as a Pod's status has it: `containerd://<id>`
 * @param proc of the node's own process namespace
 * @returns undefined if the container runs no more
 */
export async function containerProcess(containerID: string, proc = '/proc'): Promise<number | undefined> {
  const id = containerID.replace(/^[^:]*:\/\//, '');
  if (!idPattern.test(id)) throw new Error(`"${containerID}" is not a container id`);
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids.sort((a, b) => a - b)) if (isOf(await cgroups(proc, pid), id)) return pid;
  return undefined;
}

/**
 * A line is `hierarchy:controllers:path`. The container's own cgroup is `…/<id>` with the cgroupfs driver, `…/cri-containerd-<id>.scope` with
 * systemd's; what runs in it may have made cgroups below.
 */
function isOf(lines: string, id: string): boolean {
  return lines
    .split('\n')
    .flatMap((line) => line.split(':').slice(2).join(':').split('/'))
    .some((name) => name === id || name.endsWith(`-${id}.scope`));
}

async function cgroups(proc: string, pid: number): Promise<string> {
  try {
    return await readFile(`${proc}/${pid}/cgroup`, 'utf8');
  } catch (error) {
    // It has ended meanwhile.
    if (isNotExist(error) || errorCode(error) === 'ESRCH') return '';
    throw error;
  }
}
