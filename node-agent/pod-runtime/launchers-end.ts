/** Ends the launchers of a machine that shuts down. Their pods stay: they tell how the guests ended. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Clock } from '../../controllers/runtime/clock.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { connectLauncher } from '../launcher-connect.js';
import type { PodDirectories, PodDirectory } from '../pod-directory.js';
import { LauncherProcess } from './launcher-process.js';

export interface LaunchersEndOptions {
  readonly directories: Pick<PodDirectories, 'of'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Milliseconds that a launcher has beyond the grace of its guest, to say how that ended. */
const lastWords = 2000;
/** Seconds, of a pod that says nothing. */
const defaultGrace = 30;

/** The least important first; those of one priority share the time at once, and nobody takes longer than its pod allows. */
export async function endLaunchers(
  pods: readonly Pod[],
  milliseconds: number,
  options: LaunchersEndOptions,
): Promise<void> {
  const { clock } = options;
  const deadline = clock.monotonic() + milliseconds;
  const groups = byPriority(pods);
  for (const [index, group] of groups.entries()) {
    const share = Math.max(0, deadline - clock.monotonic()) / (groups.length - index);
    await Promise.all(group.map((pod) => end(pod, share, options)));
  }
}

function byPriority(pods: readonly Pod[]): Pod[][] {
  const groups = new Map<number, Pod[]>();
  for (const pod of pods) {
    const priority = pod.spec?.priority ?? 0;
    groups.set(priority, [...(groups.get(priority) ?? []), pod]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

async function end({ metadata, spec }: Pod, share: number, options: LaunchersEndOptions): Promise<void> {
  const { directories, clock, logger } = options;
  const directory = directories.of(metadata.uid);
  const identity = await directory.recordedLauncher();
  if (identity === undefined || !(await directory.isLauncherAlive())) return;
  const grace = Math.min(share / 1000, spec?.terminationGracePeriodSeconds ?? defaultGrace);
  const launcher = LauncherProcess.adopt(directory, identity, clock);
  const patience = new AbortController();
  const late = new Promise<void>((resolve) => {
    patience.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const cancel = clock.timer(grace * 1000 + lastWords, () => {
    patience.abort(new Error('it has taken too long to end'));
  });
  try {
    await Promise.race([
      askToEnd(directory, Math.floor(grace), clock, patience.signal),
      launcher.exited,
      late,
    ]);
    await Promise.race([launcher.exited, late]);
    if (patience.signal.aborted)
      logger.warn({ pod: metadata.name, namespace: metadata.namespace }, 'a launcher did not end in time');
  } finally {
    cancel();
    launcher.release();
    // QEMU must never outlive its launcher.
    await directory.killProcesses();
  }
}

/** Returns once it has been asked; one that can not be asked in time is killed then. */
async function askToEnd(
  directory: PodDirectory,
  gracePeriodSeconds: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  try {
    const client = await connectLauncher(directory, clock, signal);
    await client.call('shutdown', { gracePeriodSeconds });
    client.close();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
