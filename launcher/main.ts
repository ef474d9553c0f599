import { openSync } from 'node:fs';
import { podLayout } from '../openapi/launcher/protocol.js';
import { systemClock } from './clock.js';
import { writeImageHolder } from './image-holder.js';
import { launcherOf } from './launch.js';
import { runVirtualMachine } from './launcher.js';
import { jsonLogger } from './log.js';
import { parseOptions, usage, UsageError, type LauncherOptions } from './options.js';
import { endPod } from './pod-end.js';
import { probe } from './probe.js';

/** What of the process the launcher uses. */
export interface LauncherProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  chdir(directory: string): void;
  umask(mask: number): unknown;
  on(event: 'SIGTERM' | 'SIGINT' | 'SIGHUP', listener: () => void): unknown;
  on(event: 'uncaughtException', listener: (error: Error) => void): unknown;
}

/**
 * Runs one virtual machine to its end.
 * @param argv arguments after `launcher`
 * @returns the exit status: 0 when the guest powered off or was ended on request, 1 when it failed, 2 for a wrong command line
 */
export async function runLauncher(argv: readonly string[], process: LauncherProcess): Promise<number> {
  try {
    const command = parseOptions(argv);
    switch (command.kind) {
      case 'help':
        process.stdout.write(usage);
        return 0;
      case 'write-image-holder':
        writeImageHolder(command.path);
        return 0;
      case 'probe':
        return await probe(command, process.stderr);
      case 'run':
        return await runOne(command, process);
    }
  } catch (error) {
    process.stderr.write(`launcher: ${error instanceof Error ? error.message : String(error)}\n`);
    if (!(error instanceof UsageError)) return 1;
    process.stderr.write(usage);
    return 2;
  }
}

async function runOne(options: LauncherOptions, process: LauncherProcess): Promise<number> {
  const { name, namespace, uid } = options;
  process.chdir(options.podDir);
  process.umask(0o077);
  const clock = systemClock;
  const log = openSync(podLayout.log, 'a', 0o600);
  const logger = jsonLogger(log, () => clock.now(), { name: 'launcher', vmi: `${namespace}/${name}`, uid });
  const searchPath = process.env['PATH'] ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const launch = launcherOf({ ...options, searchPath, clock, logger });
  const onSignal = (stop: () => void) => {
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  };
  // A guest must not die of a terminal that closes, nor of a defect in what serves a console.
  process.on('SIGHUP', () => logger.warn('SIGHUP is ignored'));
  process.on('uncaughtException', (error) => {
    logger.error('a defect of the launcher', { error: error.stack ?? error.message });
  });
  try {
    return await runVirtualMachine({ uid, launch, clock, logger, onSignal });
  } finally {
    await endPod(options.terminationMessage, logger);
  }
}
