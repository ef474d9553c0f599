import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { lookThrough } from '../disks/files.js';
import { failure } from '../errors.js';
import { findExecutable } from './executable.js';
import type { SharedDirectory } from './filesystems.js';
import type { HelperProgram } from './helper.js';

/** Where distributions keep it; it is on no search path. */
export const virtiofsdPlaces = ['/usr/libexec/virtiofsd', '/usr/lib/qemu/virtiofsd', 'virtiofsd'];

/** Runs a program to its end; undefined if that is no success. Injected, so that tests need none. */
export type Ask = (binary: string, argv: readonly string[]) => Promise<string | undefined>;

const ask: Ask = (binary, argv) =>
  new Promise((resolve) => {
    execFile(binary, argv, { timeout: 10_000 }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });

export interface VirtiofsdOptions {
  readonly searchPath: string;
  /** Whether the launcher runs as root. */
  readonly isRoot: boolean;
  readonly places?: readonly string[];
  readonly ask?: Ask;
}

/**
 * Serves one directory: with the C program that came with QEMU up to 7.2, or with the Rust one that followed it.
 * @throws LauncherError `HelperMissing`, `HelperFailed`, `VolumeMissing`
 */
export async function virtiofsdProgram(
  { tag, directory, socket }: SharedDirectory,
  options: VirtiofsdOptions,
): Promise<HelperProgram> {
  const { searchPath, places = virtiofsdPlaces } = options;
  const binary = places.map((place) => findExecutable(place, searchPath)).find(Boolean);
  if (binary === undefined) throw failure('HelperMissing', 'virtiofsd');
  if (!(await lookThrough(directory))?.isDirectory()) throw failure('VolumeMissing', tag, directory);
  const name = `virtiofsd-${tag}`;
  // It changes its working directory before it looks for it.
  const source = await realpath(directory);
  const version = (await (options.ask ?? ask)(binary, ['--version'])) ?? '';
  const isRust = !version.startsWith('virtiofsd version');
  const { prefix, sandbox } = await confinement(name, isRust, options);
  const argv = isRust
    ? [`--shared-dir=${source}`, '--cache=auto', `--sandbox=${sandbox}`]
    : ['-o', `source=${source.replaceAll(',', '\\,')}`, '-o', 'cache=auto', '-o', `sandbox=${sandbox}`];
  // The C one writes a lock where only root may, unless it is given the socket.
  const [program = '', ...rest] = [...prefix, binary, '--fd=0', ...argv];
  return { name, socket, binary: program, argv: rest, listener: 'launcher' };
}

interface Confinement {
  readonly prefix: readonly string[];
  readonly sandbox: 'chroot' | 'none';
}

/**
 * It shuts itself into its directory, for which it must be root, if only in a user namespace of its own. Its own default,
 * `namespace`, needs a root directory that is a mount point, which a container or a chroot may not have.
 */
async function confinement(
  name: string,
  isRust: boolean,
  { isRoot, searchPath, ask: run = ask }: VirtiofsdOptions,
): Promise<Confinement> {
  if (isRoot) return { prefix: [], sandbox: 'chroot' };
  const unshare = findExecutable('unshare', searchPath);
  if (unshare === undefined) throw failure('HelperMissing', 'unshare');
  const asRoot = ['--map-root-user', '--'];
  if ((await run(unshare, [...asRoot, 'true'])) !== undefined) {
    return { prefix: [unshare, ...asRoot], sandbox: 'chroot' };
  }
  // Then the pod is its sandbox.
  if (isRust) return { prefix: [], sandbox: 'none' };
  throw failure(
    'HelperFailed',
    name,
    "this virtiofsd shuts itself into a user namespace, which the node or the pod's seccomp profile does not permit; " +
      'permit unshare(CLONE_NEWUSER), or install virtiofsd 1.0 or later',
  );
}
