/** Ends virtual machines that a control plane left behind, so that a failed demo leaves nothing running. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const pidFile = 'qemu.pid';

async function commandLineOf(pid: number): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

/** Kills the QEMU of each pid file below the data directory; answers how many there were. Launchers end with them. */
export async function killLeftovers(dataDirectory: string): Promise<number> {
  let killed = 0;
  for (const path of await readdir(dataDirectory, { recursive: true })) {
    if (!path.endsWith(`/${pidFile}`)) continue;
    const pid = Number(await readFile(join(dataDirectory, path), 'utf8').catch(() => ''));
    // The number may be another process's by now.
    if (!Number.isSafeInteger(pid) || pid <= 1 || !(await commandLineOf(pid)).includes('qemu-system'))
      continue;
    process.kill(pid, 'SIGKILL');
    killed++;
  }
  return killed;
}
