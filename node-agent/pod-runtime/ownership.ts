/** Gives files to the user that launchers run as. Links are never followed. */
import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LauncherUser } from './launcher-user.js';

/** A directory or a device. Undefined user: they are the agent's own, as its launchers. */
export async function own(path: string, user: LauncherUser | undefined): Promise<void> {
  if (user !== undefined) await lchown(path, user.uid, user.gid);
}

/** A volume with the files that stand in it: another launcher, or another user's, may have made them. */
export async function ownVolume(path: string, user: LauncherUser | undefined): Promise<void> {
  if (user === undefined) return;
  await own(path, user);
  if (!(await lstat(path)).isDirectory()) return;
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isFile()) await own(join(path, entry.name), user);
}
