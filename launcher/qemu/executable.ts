import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Accelerator } from './model.js';

/** The path of a program: as given where it has a slash, else from `searchPath` as a shell looks for it. */
export function findExecutable(name: string, searchPath: string): string | undefined {
  const candidates = name.includes('/')
    ? [name]
    : searchPath.split(delimiter).map((folder) => join(folder === '' ? '.' : folder, name));
  return candidates.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export interface Acceleration {
  readonly accelerator: Accelerator;
  /** Why it is emulation, for the log. */
  readonly why: string;
}

/** KVM where this process can really open it; a device that is there but not permitted is of no use. */
export function chooseAccelerator(allowKvm: boolean, device = '/dev/kvm'): Acceleration {
  if (!allowKvm) return { accelerator: 'tcg', why: 'KVM is switched off by --no-kvm' };
  try {
    closeSync(openSync(device, 'r+'));
    return { accelerator: 'kvm', why: `${device} is usable` };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { accelerator: 'tcg', why: `${device} cannot be opened (${cause})` };
  }
}
