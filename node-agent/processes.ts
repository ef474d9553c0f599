/** Processes by identity: a number alone may have passed on to another process. Linux only, from /proc. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { errorCode, isNotExist } from './files.js';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, as /proc/<pid>/stat has it. */
  readonly startTime: string;
  /** Of /proc/sys/kernel/random/boot_id: start times repeat after a reboot. */
  readonly bootId: string;
}

export interface ProcessInfo extends ProcessIdentity {
  /** The executable's name, at most 15 characters. */
  readonly command: string;
  readonly state: string;
  readonly parent: number;
  readonly session: number;
}

let bootId: Promise<string> | undefined;

function readBootId(): Promise<string> {
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim());
  return bootId;
}

/** A process that ends while it is looked at is no error. */
function isGone(error: unknown): boolean {
  return isNotExist(error) || errorCode(error) === 'ESRCH';
}

/** Undefined if there is no such process, or only a zombie of it. */
export async function readProcess(pid: number): Promise<ProcessInfo | undefined> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  // The command may hold spaces and parentheses itself.
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const [state = '', parent = '', , session = ''] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid,
    command: text.slice(open + 1, close),
    state,
    parent: Number(parent),
    session: Number(session),
    startTime: fields[19] ?? '',
    bootId: await readBootId(),
  };
}

export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const process = await readProcess(identity.pid);
  return process?.startTime === identity.startTime && process.bootId === identity.bootId;
}

export async function workingDirectory(pid: number): Promise<string | undefined> {
  try {
    return await readlink(`/proc/${pid}/cwd`);
  } catch (error) {
    // Other users' processes are none of ours.
    if (isGone(error) || errorCode(error) === 'EACCES') return undefined;
    throw error;
  }
}

/** Arguments of a process; none if it is gone or not ours. */
export async function commandLine(pid: number): Promise<string[]> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  } catch (error) {
    if (isGone(error) || errorCode(error) === 'EACCES') return [];
    throw error;
  }
}

/** Processes whose working directory is `directory` (a real path). */
export async function processesIn(directory: string): Promise<ProcessInfo[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => ((await workingDirectory(pid)) === directory ? readProcess(pid) : undefined)),
  );
  return found.filter((process) => process !== undefined);
}

/** Sends the signal if the process still is the one meant. */
export async function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isAlive(identity))) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}
