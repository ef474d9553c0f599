/** What a command line may go on with. */
import type { HttpClient } from '../controllers/runtime/http-client.js';
import { virtualMachineInstances, virtualMachines } from '../controllers/runtime/kinds.js';
import type { Command, OptionSpecs } from './command.js';

/** For what only `TYPE/NAME` means a machine. */
const typed: ReadonlySet<string> = new Set(['ssh', 'scp', 'port-forward']);

export interface MachineNames {
  /** Rejects where there is no server to ask. */
  list(): Promise<{ readonly vms: readonly string[]; readonly vmis: readonly string[] }>;
}

/** @param words what is typed behind the program's name; the last is the one to complete, and may be empty */
export async function complete(
  words: readonly string[],
  commands: readonly Command[],
  commonOptions: OptionSpecs,
  machines: MachineNames,
): Promise<string[]> {
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commands.find(({ name }) => name === before.slice(0, name.split(' ').length).join(' '));
  const further = commands.flatMap(({ name }) => {
    const parts = name.split(' ');
    const started = before.every((word, index) => parts[index] === word);
    return started && parts.length > before.length ? [parts[before.length] ?? ''] : [];
  });
  const candidates =
    command === undefined
      ? further
      : [...further, ...(await argumentsOf(command, last, commonOptions, machines))];
  return [...new Set(candidates)].filter((candidate) => candidate.startsWith(last));
}

async function argumentsOf(
  command: Command,
  last: string,
  commonOptions: OptionSpecs,
  machines: MachineNames,
): Promise<string[]> {
  if (last.startsWith('-'))
    return Object.keys({ ...command.options, ...commonOptions }).map((name) => `--${name}`);
  if (command.name === 'completion') return ['bash', 'zsh', 'fish'];
  if (!command.synopsis.includes('NAME') && command.synopsis !== 'VM') return [];
  const { vms, vmis } = await machines.list();
  const named = [...vms.map((name) => `vm/${name}`), ...vmis.map((name) => `vmi/${name}`)];
  return typed.has(command.name) ? named : [...vms, ...vmis, ...named];
}

export function machineNames(client: HttpClient, namespace: string, signal: AbortSignal): MachineNames {
  return {
    async list() {
      const [vms, vmis] = await Promise.all([
        client.list(virtualMachines, { namespace }, signal),
        client.list(virtualMachineInstances, { namespace }, signal),
      ]);
      const names = (items: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
        items.map(({ metadata }) => metadata.name);
      return { vms: names(vms.items), vmis: names(vmis.items) };
    },
  };
}
