/** Naming a machine on the command line, and finding it. */
import { isNotFound } from '../controllers/runtime/errors.js';
import type { HttpClient } from '../controllers/runtime/http-client.js';
import { virtualMachineInstances, virtualMachines } from '../controllers/runtime/kinds.js';
import type { VirtualMachine, VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import { CommandError, UsageError } from './errors.js';

export interface MachineReference {
  /** `any`: a virtual machine of that name, or an instance without one. */
  readonly type: 'vm' | 'vmi' | 'any';
  readonly name: string;
}

/** One positional: the machine. */
export const machineSynopsis = '(NAME | vm/NAME | vmi/NAME)';

const types: Readonly<Record<string, 'vm' | 'vmi'>> = {
  vm: 'vm',
  vms: 'vm',
  virtualmachine: 'vm',
  virtualmachines: 'vm',
  vmi: 'vmi',
  vmis: 'vmi',
  virtualmachineinstance: 'vmi',
  virtualmachineinstances: 'vmi',
};

function parseReference(text: string): MachineReference {
  const parts = text.split('/');
  if (parts.length === 1 && text !== '') return { type: 'any', name: text };
  const [type = '', name = ''] = parts;
  const known = types[type.toLowerCase().replace(/\.kubevirt\.io$/, '')];
  if (parts.length !== 2 || known === undefined || name === '') {
    throw new UsageError(`"${text}" names no machine; write NAME, vm/NAME or vmi/NAME`);
  }
  return { type: known, name };
}

/** The one machine that the command line names. */
export function machineArgument(positionals: readonly string[]): MachineReference {
  const [first, ...rest] = positionals;
  if (first === undefined) throw new UsageError('which machine? Write NAME, vm/NAME or vmi/NAME');
  if (rest.length > 0)
    throw new UsageError(`one machine at a time; what is ${JSON.stringify(rest.join(' '))}?`);
  return parseReference(first);
}

/** As `machineArgument`, for what only a VirtualMachine can do. */
export function virtualMachineArgument(positionals: readonly string[]): string {
  const { type, name } = machineArgument(positionals);
  if (type === 'vmi') {
    throw new UsageError(
      `vmi/${name} is a running instance; start, stop and restart are for virtual machines: write ${name} or vm/${name}`,
    );
  }
  return name;
}

export interface FoundMachine {
  readonly vm: VirtualMachine | undefined;
  readonly vmi: VirtualMachineInstance | undefined;
}

async function orNothing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Both objects of a machine, as far as they exist; a `CommandError` if there is none. */
export async function findMachine(
  client: HttpClient,
  namespace: string,
  { type, name }: MachineReference,
  signal: AbortSignal,
): Promise<FoundMachine> {
  const key = { namespace, name };
  const [vm, vmi] = await Promise.all([
    type === 'vmi' ? undefined : orNothing(client.get(virtualMachines, key, signal)),
    orNothing(client.get(virtualMachineInstances, key, signal)),
  ]);
  if (vm === undefined && (vmi === undefined || type === 'vm')) {
    const kind = type === 'vmi' ? 'virtual machine instance' : 'virtual machine';
    throw new CommandError(`there is no ${kind} "${name}" in namespace "${namespace}"`);
  }
  return { vm, vmi };
}
