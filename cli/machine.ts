/** Naming a machine on the command line, and finding it. */
import { isNotFound } from '../controllers/runtime/errors.js';
import type { HttpClient } from '../controllers/runtime/http-client.js';
import { virtualMachineInstances, virtualMachines } from '../controllers/runtime/kinds.js';
import type { VirtualMachine, VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import type { CommandContext } from './command.js';
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

/** The one machine that the command line names: `NAME`, `vm/NAME`, or in two words as virtctl has it, `vm NAME`. */
export function machineArgument(positionals: readonly string[]): MachineReference {
  const [first, ...rest] = positionals;
  if (first === undefined) throw new UsageError('which machine? Write NAME, vm/NAME or vmi/NAME');
  const [second] = rest;
  if (rest.length === 1 && second !== undefined && Object.hasOwn(types, first.toLowerCase()))
    return parseReference(`${first}/${second}`);
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

export interface TargetReference {
  readonly machine: MachineReference;
  /** Undefined: that of the command line or kubeconfig. */
  readonly namespace: string | undefined;
  readonly user: string | undefined;
}

/** `[USER@]TYPE/NAME[/NAMESPACE]`, as virtctl's port-forward, ssh and scp have it; the type may be left out. */
export function parseTarget(text: string): TargetReference {
  const at = text.indexOf('@');
  const user = at < 0 ? undefined : text.slice(0, at);
  const [type = '', name, namespace, ...rest] = text.slice(at + 1).split('/');
  if (user === '' || namespace === '' || rest.length > 0)
    throw new UsageError(`"${text}" names no machine; write [USER@]vm/NAME[/NAMESPACE]`);
  const machine = parseReference(name === undefined ? type : `${type}/${name}`);
  return { machine, namespace, user };
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

/** The running instance of a machine; a `CommandError` if there is none. */
export async function runningInstance(
  { client, namespace, signal }: Pick<CommandContext, 'client' | 'namespace' | 'signal'>,
  machine: MachineReference,
): Promise<VirtualMachineInstance> {
  const { vm, vmi } = await findMachine(client, namespace, machine, signal);
  if (vmi?.status?.phase === 'Running') return vmi;
  const state = vm?.status?.printableStatus ?? vmi?.status?.phase;
  const advice =
    vm === undefined ? '' : `; start it with: kubectl virt start ${machine.name} -n ${namespace}`;
  throw new CommandError(
    `"${machine.name}" in namespace "${namespace}" is not running${state === undefined ? '' : ` (${state})`}${advice}`,
  );
}
