/** The demo proper, started by demo.sh when everything is installed and built. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ClientError } from '../../controllers/runtime/errors.js';
import { ControlPlane, ControlPlaneError } from './control-plane.js';
import { Demo, DemoError } from './run-demo.js';
import { KubectlError } from './kubectl.js';
import { killLeftovers } from './leftovers.js';
import { nextSteps } from './next-steps.js';
import { Progress } from './progress.js';
import { SerialSessionError } from './serial-session.js';

/** From the first step to the last. Emulated guests on a busy machine are slow. Milliseconds. */
const timeout = 10 * 60_000;

class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

function isExpected(error: unknown): error is Error {
  const kinds = [ClientError, ControlPlaneError, DemoError, KubectlError, SerialSessionError, Interrupted];
  return (
    kinds.some((kind) => error instanceof kind) || (error instanceof Error && error.name === 'TimeoutError')
  );
}

async function dataDirectory(
  chosen: string | undefined,
  keep: boolean,
): Promise<{ path: string; temporary: boolean }> {
  if (chosen === undefined && !keep) {
    const path = await mkdtemp(join(tmpdir(), 'nativirt-demo-'));
    // As root, launchers are another user, who has to pass through.
    await chmod(path, 0o711);
    return { path, temporary: true };
  }
  const path = resolve(chosen ?? join(homedir(), '.local', 'share', 'nativirt-demo'));
  await mkdir(path, { recursive: true });
  return { path, temporary: false };
}

/** Runs the demo; answers the process id of the control plane if it was kept. */
async function demo(
  keep: boolean,
  directory: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<number | undefined> {
  const controlPlane = await ControlPlane.start(directory, signal);
  progress.step(`control plane ready at ${controlPlane.server}`);
  const shown = new Demo(controlPlane, progress);
  try {
    await shown.run(signal);
  } catch (error) {
    // What went wrong first is what the user should read.
    await end(controlPlane, shown, directory, progress).catch((cause: unknown) => {
      progress.step(`cleaning up failed as well: ${cause instanceof Error ? cause.message : String(cause)}`);
    });
    throw error;
  }
  if (keep) {
    controlPlane.release();
    return controlPlane.pid;
  }
  await end(controlPlane, shown, directory, progress);
  return undefined;
}

/** Whatever went wrong before, nothing stays behind. */
async function end(
  controlPlane: ControlPlane,
  shown: Demo,
  directory: string,
  progress: Progress,
): Promise<void> {
  try {
    await shown.cleanUp();
  } finally {
    await controlPlane.stop();
    const killed = await killLeftovers(directory);
    progress.step(`control plane stopped${killed > 0 ? `; ${killed} guest had to be killed` : ''}`);
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: { keep: { type: 'boolean', default: false }, 'data-dir': { type: 'string' } },
  });
  const { keep } = values;
  const progress = new Progress((text) => process.stdout.write(text));
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      interruption.abort(new Interrupted(`interrupted by ${name}`));
    });
  }
  const signal = AbortSignal.any([interruption.signal, AbortSignal.timeout(timeout)]);
  const { path, temporary } = await dataDirectory(values['data-dir'], keep);
  try {
    const pid = await demo(keep, path, progress, signal);
    progress.plain(nextSteps({ keep, dataDirectory: path, pid }));
    if (temporary) await rm(path, { recursive: true, force: true });
    return 0;
  } catch (error) {
    if (!isExpected(error)) throw error;
    process.stderr.write(`demo: ${error.message}\ndemo: logs are in ${path}\n`);
    return error instanceof Interrupted ? 130 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
