/** `start`, `stop` and `restart` of a VirtualMachine. */
import type {
  RestartOptions,
  StartOptions,
  StopOptions,
  VirtualMachine,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import { badRequest, conflict, notFound } from '../errors/api-error.js';
import type { Registry, Target } from '../registry/registry.js';
import type { Reply, RequestContext } from '../request.js';
import { kubevirtGroup, servedEverywhere } from './groups.js';
import type { ActionSubresource } from './interface.js';
import type { LauncherPods } from './launcher-pods.js';
import { isDryRun, optionsReader } from './options.js';
import { planRestart, planStart, planStop, type Plan } from './run-strategy.js';
import { serverActor } from './server-user.js';

export interface LifecycleDependencies {
  readonly registry: Pick<Registry, 'get' | 'guaranteedUpdate'>;
  readonly definitions: Definitions;
  readonly launcherPods: LauncherPods;
}

/** What one request is about. */
interface Machine {
  readonly target: Target & { readonly namespace: string };
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
}

const accepted: Reply = { kind: 'bytes', status: 202, contentType: 'application/json', chunks: [] };

export function lifecycleSubresources(dependencies: LifecycleDependencies): readonly ActionSubresource[] {
  return [start(dependencies), stop(dependencies), restart(dependencies)];
}

function start(dependencies: LifecycleDependencies): ActionSubresource {
  const readOptions = optionsReader<StartOptions>(dependencies.definitions, 'StartOptions');
  return action('start', async (context) => {
    const options = readOptions(context);
    const machine = await find(dependencies.registry, context);
    const plan = (vm: VirtualMachine): Plan => planStart(vm, machine.vmi, options.paused === true);
    await carryOut(dependencies.registry, machine, plan, isDryRun(context, options));
    return accepted;
  });
}

function stop(dependencies: LifecycleDependencies): ActionSubresource {
  const readOptions = optionsReader<StopOptions>(dependencies.definitions, 'StopOptions');
  return action('stop', async (context) => {
    const options = readOptions(context);
    const { gracePeriod } = options;
    if (gracePeriod !== undefined && gracePeriod < 0) throw badRequest('gracePeriod must not be negative');
    const dryRun = isDryRun(context, options);
    const machine = await find(dependencies.registry, context);
    const plan = (vm: VirtualMachine): Plan => planStop(vm, machine.vmi, gracePeriod);
    const refused = plan(machine.vm);
    if (refused.kind === 'refuse') throw cannot(machine, refused.why);
    if (gracePeriod !== undefined) await setGracePeriod(dependencies.registry, machine, gracePeriod, dryRun);
    await carryOut(dependencies.registry, machine, plan, dryRun);
    return accepted;
  });
}

function restart(dependencies: LifecycleDependencies): ActionSubresource {
  const readOptions = optionsReader<RestartOptions>(dependencies.definitions, 'RestartOptions');
  return action('restart', async (context) => {
    const options = readOptions(context);
    const { gracePeriodSeconds } = options;
    if (gracePeriodSeconds !== undefined && gracePeriodSeconds !== 0) {
      throw badRequest('gracePeriodSeconds: only 0 is supported, for a restart by force');
    }
    const dryRun = isDryRun(context, options);
    const machine = await find(dependencies.registry, context);
    await carryOut(dependencies.registry, machine, (vm) => planRestart(vm, machine.vmi), dryRun);
    if (gracePeriodSeconds === 0 && machine.vmi !== undefined && !dryRun) {
      await dependencies.launcherPods.deleteNow(machine.vmi, context.signal);
    }
    return accepted;
  });
}

function action(name: string, handle: ActionSubresource['handle']): ActionSubresource {
  return {
    type: 'action',
    resource: 'virtualmachines',
    namespaced: true,
    name,
    servedUnder: servedEverywhere,
    responseKind: { group: kubevirtGroup, version: 'v1', kind: 'VirtualMachine' },
    verbs: ['update'],
    handle,
  };
}

async function find(registry: Pick<Registry, 'get'>, context: RequestContext): Promise<Machine> {
  const { namespace = '', name = '' } = context.info;
  const target = { group: kubevirtGroup, resource: 'virtualmachines', namespace, name };
  const vm = await registry.get<VirtualMachine>(target);
  if (vm === undefined) throw notFound(kubevirtGroup, 'virtualmachines', name);
  const vmi = await registry.get<VirtualMachineInstance>({ ...target, resource: 'virtualmachineinstances' });
  return { target, vm, vmi };
}

function cannot({ target }: Machine, why: string): Error {
  return conflict(target.group, target.resource, target.name, why);
}

/** Plans again on whatever state the write meets, so that two requests at once do not both succeed by accident. */
async function carryOut(
  registry: Pick<Registry, 'guaranteedUpdate'>,
  machine: Machine,
  plan: (vm: VirtualMachine) => Plan,
  dryRun: boolean,
): Promise<void> {
  const first = plan(machine.vm);
  if (first.kind === 'refuse') throw cannot(machine, first.why);
  const section = first.kind === 'request' ? 'status' : undefined;
  await registry.guaranteedUpdate<VirtualMachine>(
    machine.target,
    (vm) => {
      const now = plan(vm);
      if (now.kind === 'refuse') throw cannot(machine, now.why);
      if (now.kind !== first.kind) throw cannot(machine, 'its run strategy was changed at the same time');
      if (now.kind === 'request') vm.status = { ...vm.status, stateChangeRequests: [...now.requests] };
      else setRunning(vm, now.running);
    },
    serverActor(section, dryRun),
  );
}

/** In the words that the spec uses already. */
function setRunning({ spec }: VirtualMachine, running: boolean): void {
  if (spec.running !== undefined) spec.running = running;
  else spec.runStrategy = running ? 'Always' : 'Halted';
}

async function setGracePeriod(
  registry: Pick<Registry, 'guaranteedUpdate'>,
  { target, vmi }: Machine,
  seconds: number,
  dryRun: boolean,
): Promise<void> {
  const phase = vmi?.status?.phase;
  if (vmi === undefined || phase === 'Succeeded' || phase === 'Failed') return;
  await registry.guaranteedUpdate<VirtualMachineInstance>(
    { ...target, resource: 'virtualmachineinstances' },
    (current) => {
      current.spec.terminationGracePeriodSeconds = seconds;
    },
    serverActor(undefined, dryRun),
  );
}
