import { execFile } from 'node:child_process';
import { failure } from '../errors.js';
import type { QmpClient } from '../qmp/client.js';
import { isObject } from '../qmp/messages.js';
import type { CpuPlacement } from './placement.js';

/** Runs a program of util-linux to its end; injected so that tests need no privileges. */
export type RunTool = (program: string, argv: readonly string[]) => Promise<void>;

/** The lowest of the real-time priorities: above every ordinary thread, below the kernel's own. */
const realtimePriority = '1';

/**
 * Moves the threads of a QEMU whose guest does not run yet to their CPUs. The emulator's come first: that moves all threads,
 * and the others have their own place after it.
 * @throws LauncherError `LauncherFailed`, QmpError
 */
export async function pinThreads(
  pid: number,
  qmp: Pick<QmpClient, 'execute'>,
  placement: CpuPlacement,
  run: RunTool,
): Promise<void> {
  const pin = (thread: number, cpus: readonly number[], flags: readonly string[] = []) =>
    run('taskset', [...flags, '-c', '-p', cpus.join(','), String(thread)]);
  if (placement.emulator) await pin(pid, placement.emulator, ['-a']);
  for (const { name, thread } of threadsOf(await qmp.execute('query-iothreads'), 'id')) {
    const cpus = placement.ioThreads.get(name);
    if (cpus) await pin(thread, cpus);
  }
  for (const { name, thread } of threadsOf(await qmp.execute('query-cpus-fast'), 'cpu-index')) {
    const cpu = placement.vcpus[Number(name)];
    if (cpu !== undefined) await pin(thread, [cpu]);
    if (placement.realtime.includes(Number(name))) {
      await run('chrt', ['--fifo', '-p', realtimePriority, String(thread)]);
    }
  }
}

function threadsOf(answer: unknown, nameKey: string): { name: string; thread: number }[] {
  if (!Array.isArray(answer)) return [];
  return answer.filter(isObject).map((entry) => ({
    name: String(entry[nameKey]),
    thread: Number(entry['thread-id']),
  }));
}

export function utilLinux(signal: AbortSignal): RunTool {
  return (program, argv) =>
    new Promise((resolve, reject) => {
      execFile(program, argv, { signal, timeout: 10_000 }, (error, _out, stderr) => {
        if (!error) resolve();
        else if (error.code === 'ENOENT') reject(failure('HelperMissing', program));
        else
          reject(
            failure('LauncherFailed', `${program} ${argv.join(' ')}: ${stderr.trim() || error.message}`),
          );
      });
    });
}
