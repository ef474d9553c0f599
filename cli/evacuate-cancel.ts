/** `kubectl virt evacuate-cancel`. */
import {
  nodes,
  virtualMachineInstanceMigrations,
  virtualMachineInstances,
} from '../controllers/runtime/kinds.js';
import type {
  EvacuateCancelOptions,
  VirtualMachineInstance,
} from '../openapi/generated/types/kubevirt_v1.js';
import type { Command, CommandContext } from './command.js';
import { CommandError, UsageError } from './errors.js';
import { findMachine, machineArgument } from './machine.js';
import { say } from './terminal.js';

interface Wish {
  readonly dryRun: boolean;
  /** End migrations that have begun, too. */
  readonly migrations: boolean;
}

export const evacuateCancel: Command = {
  name: 'evacuate-cancel',
  synopsis: '(NAME | vm/NAME | vmi/NAME | node/NAME)',
  summary: 'let a guest, or all guests of a node, stay where an eviction wanted them to leave',
  options: { 'dry-run': { type: 'boolean' }, 'migrate-cancel': { type: 'boolean' } },
  optionHelp: {
    'dry-run': 'check only, change nothing',
    'migrate-cancel': 'end migrations of the guest that have begun, too',
  },
  async run(context, values, positionals) {
    const wish = { dryRun: values['dry-run'] === true, migrations: values['migrate-cancel'] === true };
    for (const vmi of await concerned(context, positionals)) await cancel(context, vmi, wish);
  },
};

async function concerned(
  context: CommandContext,
  positionals: readonly string[],
): Promise<readonly VirtualMachineInstance[]> {
  const { client, namespace, signal } = context;
  const node = nodeArgument(positionals);
  if (node !== undefined) {
    await client.get(nodes, { name: node }, signal);
    const { items } = await client.list(virtualMachineInstances, {}, signal);
    return items.filter(({ status }) => status?.evacuationNodeName === node);
  }
  const machine = machineArgument(positionals);
  const { vmi } = await findMachine(client, namespace, machine, signal);
  if (vmi !== undefined) return [vmi];
  throw new CommandError(`"${machine.name}" in namespace "${namespace}" is not running`);
}

/** `node/NAME`, or in two words as virtctl has it; undefined if a machine is named. */
function nodeArgument([first = '', ...rest]: readonly string[]): string | undefined {
  const [type, name] = first.includes('/') ? first.split('/', 2) : [first, rest[0]];
  const named = type === 'node' || type === 'nodes' || type === 'no';
  // A machine may be called node.
  if (!named || (rest.length === 0 && !first.includes('/'))) return undefined;
  if (name === undefined || name === '') throw new UsageError('which node? Write node/NAME');
  return name;
}

async function cancel(
  { client, terminal, signal }: CommandContext,
  { metadata, status }: VirtualMachineInstance,
  { dryRun, migrations }: Wish,
): Promise<void> {
  const { namespace, name } = metadata;
  const body: EvacuateCancelOptions = {
    evacuationNodeName: status?.evacuationNodeName ?? '',
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
  await client.post(virtualMachineInstances, { namespace, name }, 'PUT', 'evacuate/cancel', body, signal);
  const note = dryRun ? ' (dry run)' : '';
  say(terminal, `${namespace ?? ''}/${name} may stay where it is${note}`);
  if (!migrations) return;
  const scope = namespace === undefined ? {} : { namespace };
  const { items } = await client.list(virtualMachineInstanceMigrations, scope, signal);
  for (const { metadata: migration, spec, status: progress } of items) {
    const ended = progress?.phase === 'Succeeded' || progress?.phase === 'Failed';
    if (spec.vmiName !== name || ended) continue;
    if (!dryRun) {
      const { uid } = migration;
      const params = { preconditions: { uid } };
      await client.delete(virtualMachineInstanceMigrations, migration, params, signal);
    }
    say(terminal, `migration ${migration.name} was cancelled${note}`);
  }
}
