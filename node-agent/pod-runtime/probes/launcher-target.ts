/** The guest of a launcher that runs as a process, as its pod's probes reach it. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { podDirectory } from '../../../openapi/launcher/pod.js';
import { openPort } from '../../launcher-client.js';
import type { PodDirectory } from '../../pod-directory.js';
import type { LauncherCommand } from '../launcher-process.js';
import type { ProbeTarget } from './check.js';

/** Of what a failed command says. */
const longestComplaint = 1024;

/** @param launcher as launchers of this node are started */
export function launcherTarget(directory: PodDirectory, launcher: LauncherCommand): ProbeTarget {
  return {
    connect: (port, host, signal) =>
      host === undefined
        ? openPort(directory.controlSocket, { port, protocol: 'tcp' }, signal)
        : connectTo(port, host, signal),
    async execute(command, signal) {
      const [program, ...argv] = onThisNode(command, directory, launcher);
      await run(program, argv, { ...launcher, directory, signal });
    },
  };
}

async function connectTo(port: number, host: string, signal: AbortSignal): Promise<Duplex> {
  const socket = connect({ port, host });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Pods are made for containers: there is no other program in one than the launcher, and here it is elsewhere. */
function onThisNode(
  command: readonly string[],
  directory: PodDirectory,
  { command: [program = '', ...fixed] }: LauncherCommand,
): [string, ...string[]] {
  const [name, subcommand, ...argv] = command;
  if (name !== 'nativirt' || subcommand !== 'launcher')
    throw new Error(
      `this node runs no other command of a pod than nativirt launcher, not "${command.join(' ')}"`,
    );
  const guests = argv.indexOf('--');
  const own = argv.slice(0, guests < 0 ? argv.length : guests);
  const placed = own.map((word) =>
    word === `--pod-dir=${podDirectory}` ? `--pod-dir=${directory.path}` : word,
  );
  return [program, ...fixed, ...placed, ...argv.slice(own.length)];
}

interface Running extends LauncherCommand {
  readonly directory: PodDirectory;
  readonly signal: AbortSignal;
}

function run(
  program: string,
  argv: readonly string[],
  { directory, environment, signal }: Running,
): Promise<void> {
  const child = spawn(program, argv, {
    cwd: directory.path,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  let complaint = '';
  child.stderr.on(
    'data',
    (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(0, longestComplaint)),
  );
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, by) => {
      if (code === 0) resolve();
      else reject(new Error(complaint.trim() || `the command ended with ${by ?? `status ${code}`}`));
    });
  });
}
