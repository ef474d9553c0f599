/**
 * Who launchers are where this agent is root: a user of their own, without any right but to their files, as in a pod. One that can not
 * reach what a launcher needs is of no use: then launchers are root, and the log says why.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { isNotExist } from '../files.js';
import type { LauncherCommand } from './launcher-process.js';

export interface LauncherUser {
  readonly uid: number;
  readonly gid: number;
  /** Of devices that belong to one. */
  readonly groups: readonly number[];
}

export type LauncherUserChoice =
  | { readonly kind: 'unprivileged'; readonly user: LauncherUser }
  /** The agent's own; `why` where it is root all the same. */
  | { readonly kind: 'own'; readonly why?: string };

/** Beyond what distributions, containers and systemd give to anybody. */
const id = 1_900_000_107;

/** By their numbers in /proc/<pid>/status: CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID; PTRACE shows where others' processes work. */
const capabilities = [0, 1, 3, 5, 6, 7, 19];

const devices = ['/dev/kvm', '/dev/net/tun', '/dev/vhost-net', '/dev/vhost-vsock'];

/** @param directory of the pods; it is there, and anybody may pass through it */
export async function chooseLauncherUser(
  directory: string,
  { command, environment }: LauncherCommand,
): Promise<LauncherUserChoice> {
  if (process.getuid?.() !== 0) return { kind: 'own' };
  if (!(await isCapable())) return { kind: 'own', why: 'this root may not change users' };
  const user = { uid: id, gid: id, groups: await deviceGroups() };
  const needed = [directory, ...command.filter(isAbsolute)];
  const script = 'for path; do test -r "$path" || test -x "$path" || { echo "$path" >&2; exit 1; }; done';
  const [program = '', ...argv] = asUser(user, ['sh', '-c', script, 'sh', ...needed]);
  try {
    await promisify(execFile)(program, argv, { env: environment });
    return { kind: 'unprivileged', user };
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return { kind: 'own', why: `user ${id} can not reach ${said === '' ? String(error) : said}` };
  }
}

/** Starts launchers as the user. */
export const startedAs = (user: LauncherUser, launcher: LauncherCommand): LauncherCommand => ({
  ...launcher,
  user,
  command: asUser(user, launcher.command),
});

/** The command as the user, who can get no other rights any more; the process stays the same. */
function asUser({ uid, gid, groups }: LauncherUser, command: readonly string[]): readonly string[] {
  const membership = groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`;
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, membership, '--no-new-privs', '--', ...command];
}

async function isCapable(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return capabilities.every((capability) => ((effective >> BigInt(capability)) & 1n) === 1n);
}

/** A device that is root's alone becomes the launchers' as well; of others they join the group. */
async function deviceGroups(): Promise<number[]> {
  const groups = new Set<number>();
  for (const path of devices) {
    try {
      const { mode, uid, gid } = await stat(path);
      if ((mode & 0o006) === 0o006) continue;
      if (gid !== 0 && (mode & 0o060) === 0o060) {
        groups.add(gid);
      } else {
        await chown(path, uid, id);
        await chmod(path, (mode & 0o777) | 0o060);
      }
    } catch (error) {
      if (!isNotExist(error)) throw error;
    }
  }
  return [...groups].filter((group) => group !== id);
}
