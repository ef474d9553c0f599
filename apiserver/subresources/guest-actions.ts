/** `pause`, `unpause`, `freeze`, `unfreeze`, `softreboot` and `reset` of a running guest. */
import type {
  FreezeUnfreezeTimeout,
  PauseOptions,
  UnpauseOptions,
  VirtualMachine,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { NodeAgentAction } from '../../openapi/node-agent.js';
import type { Definitions } from '../../openapi/schema.js';
import { ApiError, badRequest, conflict } from '../errors/api-error.js';
import { parseDurationMs } from '../../openapi/duration.js';
import type { Registry } from '../registry/registry.js';
import type { Reply, RequestContext } from '../request.js';
import { kubevirtGroup } from './groups.js';
import {
  addressOf,
  cannot,
  checkAgentConnected,
  findRunningInstance,
  hasCondition,
  instanceResources,
  onInstance,
} from './instances.js';
import type { ActionSubresource } from './interface.js';
import type { NodeAgentDialer } from './node-agent-dialer.js';
import { isDryRun, optionsReader } from './options.js';

export interface GuestActionDependencies {
  readonly registry: Pick<Registry, 'get'>;
  readonly definitions: Definitions;
  readonly dialer: NodeAgentDialer;
}

interface GuestAction {
  readonly name: NodeAgentAction;
  /** What the request's body and query say. Throws 4xx ApiErrors. */
  read(context: RequestContext): Instruction;
  /** Throws where the state of the guest does not allow it. */
  check(vmi: VirtualMachineInstance, registry: Pick<Registry, 'get'>): void | Promise<void>;
}

interface Instruction {
  readonly dryRun: boolean;
  readonly query: Readonly<Record<string, string>>;
}

const done: Reply = { kind: 'bytes', status: 200, contentType: 'application/json', chunks: [] };
/** A backup that never came back must not leave a guest frozen: KubeVirt's own default. */
const defaultUnfreezeTimeoutMs = 5 * 60_000;
const anyState = (): void => undefined;

export function guestActionSubresources(dependencies: GuestActionDependencies): readonly ActionSubresource[] {
  const { registry, dialer } = dependencies;
  return guestActions(dependencies.definitions).flatMap((action) =>
    instanceResources.map((resource): ActionSubresource => ({
      type: 'action',
      ...onInstance(resource),
      name: action.name,
      verbs: ['update'],
      handle: async (context) => {
        const { dryRun, query } = action.read(context);
        const vmi = await findRunningInstance(registry, context, resource);
        await action.check(vmi, registry);
        if (dryRun) return done;
        await dialer.call(
          { ...addressOf(vmi, context), method: 'PUT', subject: action.name, query },
          context.signal,
        );
        return done;
      },
    })),
  );
}

function guestActions(definitions: Definitions): readonly GuestAction[] {
  const readPause = optionsReader<PauseOptions>(definitions, 'PauseOptions');
  const readUnpause = optionsReader<UnpauseOptions>(definitions, 'UnpauseOptions');
  const readFreeze = optionsReader<FreezeUnfreezeTimeout>(definitions, 'FreezeUnfreezeTimeout');
  const plain = (context: RequestContext): Instruction => ({ dryRun: isDryRun(context, {}), query: {} });
  return [
    {
      name: 'pause',
      read: (context) => ({ dryRun: isDryRun(context, readPause(context)), query: {} }),
      check: checkPause,
    },
    {
      name: 'unpause',
      read: (context) => ({ dryRun: isDryRun(context, readUnpause(context)), query: {} }),
      check: checkUnpause,
    },
    {
      name: 'freeze',
      read: (context) => {
        const milliseconds = unfreezeTimeout(readFreeze(context));
        const query = { unfreezeTimeoutSeconds: String(milliseconds / 1000) };
        return { dryRun: isDryRun(context, {}), query };
      },
      check: checkAgentConnected,
    },
    { name: 'unfreeze', read: plain, check: checkAgentConnected },
    { name: 'softreboot', read: plain, check: checkSoftReboot },
    { name: 'reset', read: plain, check: anyState },
  ];
}

function unfreezeTimeout(options: Partial<FreezeUnfreezeTimeout>): number {
  const { unfreezeTimeout: text } = options;
  if (text === undefined) return defaultUnfreezeTimeoutMs;
  const milliseconds = parseDurationMs(text);
  if (milliseconds === undefined)
    throw badRequest(`unfreezeTimeout: ${JSON.stringify(text)} is no duration like 30s or 5m0s`);
  return milliseconds;
}

function checkPause(vmi: VirtualMachineInstance): void {
  const { livenessProbe } = vmi.spec;
  if (livenessProbe !== undefined && livenessProbe.guestAgentPing === undefined) {
    const why = 'Pausing VMIs with a non-GuestAgentPing LivenessProbe is not supported';
    throw new ApiError(
      'Forbidden',
      `virtualmachineinstances.${kubevirtGroup} "${vmi.metadata.name}" is forbidden: ${why}`,
      { name: vmi.metadata.name, group: kubevirtGroup, kind: 'virtualmachineinstances' },
    );
  }
  if (hasCondition(vmi, 'Paused')) throw cannot(vmi, 'VMI is already paused');
}

async function checkUnpause(vmi: VirtualMachineInstance, registry: Pick<Registry, 'get'>): Promise<void> {
  const { namespace, name } = vmi.metadata;
  const vm = await registry.get<VirtualMachine>({
    group: kubevirtGroup,
    resource: 'virtualmachines',
    namespace,
    name,
  });
  if (vm?.status?.snapshotInProgress !== undefined)
    throw conflict(kubevirtGroup, 'virtualmachines', name, 'VM snapshot is in progress');
  if (!hasCondition(vmi, 'Paused')) throw cannot(vmi, 'VMI is not paused');
}

function checkSoftReboot(vmi: VirtualMachineInstance): void {
  if (hasCondition(vmi, 'Paused')) throw cannot(vmi, 'VMI is paused');
  const acpi = vmi.spec.domain.features?.acpi?.enabled ?? true;
  if (!acpi && !hasCondition(vmi, 'AgentConnected'))
    throw cannot(vmi, 'VMI has neither a guest agent connected nor ACPI enabled');
}
