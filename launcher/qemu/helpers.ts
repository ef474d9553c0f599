import { mkdir } from 'node:fs/promises';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { interfacesOf } from '../../openapi/launcher/interfaces.js';
import type { LauncherNetwork } from '../../openapi/launcher/network.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { failure } from '../errors.js';
import { passtProgram } from '../network/passt.js';
import { findExecutable } from './executable.js';
import { sharedDirectories } from './filesystems.js';
import { startHelper, type Helper, type HelperProgram } from './helper.js';
import { persistentState } from './persistent-state.js';
import { hasTpm } from './tpm.js';
import { virtiofsdProgram } from './virtiofsd.js';

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
export async function startHelpers(options: HelperOptions): Promise<readonly Helper[]> {
  await mkdir(podLayout.qemu, { recursive: true, mode: 0o700 });
  const started: Helper[] = [];
  try {
    for (const program of await programs(options)) {
      started.push(await startHelper(program, options.searchPath, options.signal));
    }
    return started;
  } catch (error) {
    for (const helper of started) helper.kill('SIGKILL');
    throw error;
  }
}

async function programs({ vmi, network, searchPath, isRoot }: HelperOptions): Promise<HelperProgram[]> {
  const wanted: HelperProgram[] = hasTpm(vmi) ? [await tpm(vmi, searchPath)] : [];
  for (const directory of sharedDirectories(vmi))
    wanted.push(await virtiofsdProgram(directory, { searchPath, isRoot }));
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
