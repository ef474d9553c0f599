import type { ChildProcess } from 'node:child_process';
import { mkdir, realpath } from 'node:fs/promises';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { interfacesOf } from '../../openapi/launcher/interfaces.js';
import type { LauncherNetwork } from '../../openapi/launcher/network.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { lookThrough } from '../disks/files.js';
import { failure } from '../errors.js';
import { passtProgram } from '../network/passt.js';
import { findExecutable } from './executable.js';
import { sharedDirectories, type SharedDirectory } from './filesystems.js';
import { startHelper, type HelperProgram } from './helper.js';
import { persistentState } from './persistent-state.js';
import { hasTpm } from './tpm.js';

/** Where distributions keep it; it is on no search path. */
export const virtiofsdPlaces = ['/usr/libexec/virtiofsd', '/usr/lib/qemu/virtiofsd', 'virtiofsd'];

export interface HelperOptions {
  readonly vmi: VirtualMachineInstance;
  readonly network?: LauncherNetwork | undefined;
  readonly searchPath: string;
  readonly signal: AbortSignal;
  /** Whether the launcher runs as root. */
  readonly isRoot: boolean;
}

/**
 * Starts what serves this machine's QEMU beside it: the TPM, a daemon for each file system that the guest shares. They end
 * with QEMU, which closes their sockets, and at the latest with the launcher.
 * @throws LauncherError `HelperMissing`, `HelperFailed`, `VolumeMissing`
 */
export async function startHelpers(options: HelperOptions): Promise<readonly ChildProcess[]> {
  await mkdir(podLayout.qemu, { recursive: true, mode: 0o700 });
  const started: ChildProcess[] = [];
  try {
    for (const program of await programs(options)) {
      started.push(await startHelper(program, options.searchPath, options.signal));
    }
    return started;
  } catch (error) {
    for (const child of started) child.kill('SIGKILL');
    throw error;
  }
}

async function programs({ vmi, network, searchPath, isRoot }: HelperOptions): Promise<HelperProgram[]> {
  const wanted: HelperProgram[] = hasTpm(vmi) ? [await tpm(vmi, searchPath)] : [];
  for (const directory of sharedDirectories(vmi))
    wanted.push(await fileServer(directory, searchPath, isRoot));
  for (const entry of interfacesOf(vmi)) {
    const made = network?.interfaces[entry.name];
    if (made?.kind === 'passt') wanted.push(passtProgram(entry, made, searchPath, isRoot));
  }
  return wanted;
}

async function tpm(vmi: VirtualMachineInstance, searchPath: string): Promise<HelperProgram> {
  const binary = findExecutable('swtpm', searchPath);
  if (binary === undefined) throw failure('HelperMissing', 'swtpm');
  const persistent = vmi.spec.domain.devices.tpm?.persistent ?? false;
  const state = persistent ? `${await persistentState()}/${podLayout.tpmState}` : podLayout.tpmState;
  await mkdir(state, { recursive: true, mode: 0o700 });
  return {
    name: 'swtpm',
    binary,
    socket: podLayout.tpmSocket,
    argv: [
      'socket',
      '--tpm2',
      '--tpmstate',
      `dir=${state},mode=0600`,
      '--ctrl',
      `type=unixio,path=${podLayout.tpmSocket},mode=0600`,
      '--terminate',
    ],
  };
}

async function fileServer(
  { tag, directory, socket }: SharedDirectory,
  searchPath: string,
  isRoot: boolean,
): Promise<HelperProgram> {
  const found = virtiofsdPlaces.map((place) => findExecutable(place, searchPath)).find(Boolean);
  if (found === undefined) throw failure('HelperMissing', 'virtiofsd');
  if (!(await lookThrough(directory))?.isDirectory()) throw failure('VolumeMissing', tag, directory);
  // It changes its working directory before it looks for it.
  const source = await realpath(directory);
  const argv = [
    `--socket-path=${socket}`,
    '-o',
    `source=${source.replaceAll(',', '\\,')}`,
    '-o',
    'cache=auto',
    // Its own default needs a root directory that is a mount point, which a container or a chroot may not have.
    '-o',
    'sandbox=chroot',
  ];
  const common = { name: `virtiofsd-${tag}`, socket };
  if (isRoot) return { ...common, binary: found, argv };
  // It shuts itself into its directory, for which it must be root, if only in a user namespace of its own.
  const unshare = findExecutable('unshare', searchPath);
  if (unshare === undefined) throw failure('HelperMissing', 'unshare');
  return { ...common, binary: unshare, argv: ['--map-root-user', '--', found, ...argv] };
}
