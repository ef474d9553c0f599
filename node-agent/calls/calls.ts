/** What the API server may have done with, or read of, a running VMI. */
import type {
  VirtualMachineInstanceFileSystemList,
  VirtualMachineInstanceGuestAgentInfo,
  VirtualMachineInstanceGuestOSUserList,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { launcherErrorCodes } from '../../openapi/launcher/protocol.js';
import type { NodeAgentAction, NodeAgentRead } from '../../openapi/node-agent.js';
import {
  agentCommands,
  agentVersion,
  fileSystems,
  hostName,
  osInfo,
  timeZone,
  users,
} from '../guest/agent-answers.js';
import { LauncherError, type LauncherClient } from '../launcher-client.js';
import { Refusal } from '../streams/refusal.js';

export interface Call {
  readonly launcher: Pick<LauncherClient, 'call'>;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

export type CallAnswer =
  | { readonly type: 'done' }
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'png'; readonly image: Buffer };

type Handler = (call: Call) => Promise<CallAnswer>;

const apiVersion = 'kubevirt.io/v1';
const done: CallAnswer = { type: 'done' };
const json = (value: object): CallAnswer => ({ type: 'json', value });

const command =
  (method: 'pause' | 'unpause' | 'unfreeze' | 'softReboot' | 'reset'): Handler =>
  async ({ launcher, signal }) => {
    await launcher.call(method, undefined, signal);
    return done;
  };

export const actions: Readonly<Record<NodeAgentAction, Handler>> = {
  pause: command('pause'),
  unpause: command('unpause'),
  unfreeze: command('unfreeze'),
  softreboot: command('softReboot'),
  reset: command('reset'),
  async freeze({ launcher, query, signal }) {
    const unfreezeTimeoutSeconds = Number(query.get('unfreezeTimeoutSeconds') ?? Number.NaN);
    if (!(unfreezeTimeoutSeconds >= 0))
      throw new Refusal('BadRequest', 'unfreezeTimeoutSeconds must be a number of seconds');
    await launcher.call('freeze', { unfreezeTimeoutSeconds }, signal);
    return done;
  },
};

export const reads: Readonly<Record<NodeAgentRead, Handler>> = {
  async guestosinfo(call) {
    const info = await agent(call, 'guest-info');
    const hostname = hostName(await optional(call, 'guest-get-host-name'));
    const timezone = timeZone(await optional(call, 'guest-get-timezone'));
    const version = agentVersion(info);
    const status = await optional(call, 'guest-fsfreeze-status');
    const answer: VirtualMachineInstanceGuestAgentInfo = {
      apiVersion,
      kind: 'VirtualMachineInstanceGuestAgentInfo',
      ...(version === undefined ? {} : { guestAgentVersion: version }),
      supportedCommands: agentCommands(info),
      ...(hostname === undefined ? {} : { hostname }),
      os: osInfo(await optional(call, 'guest-get-osinfo')),
      ...(timezone === undefined ? {} : { timezone }),
      userList: users(await optional(call, 'guest-get-users')),
      fsInfo: { disks: fileSystems(await optional(call, 'guest-get-fsinfo')) },
      ...(status === 'frozen' ? { fsFreezeStatus: status } : {}),
    };
    return json(answer);
  },

  async userlist(call) {
    const items = users(await agent(call, 'guest-get-users'));
    const list: VirtualMachineInstanceGuestOSUserList = {
      apiVersion,
      kind: 'VirtualMachineInstanceGuestOSUserList',
      metadata: {},
      items,
    };
    return json(list);
  },

  async filesystemlist(call) {
    const items = fileSystems(await agent(call, 'guest-get-fsinfo'));
    const list: VirtualMachineInstanceFileSystemList = {
      apiVersion,
      kind: 'VirtualMachineInstanceFileSystemList',
      metadata: {},
      items,
    };
    return json(list);
  },

  async screenshot({ launcher, query, signal }) {
    const moveCursor = query.get('moveCursor') === 'true';
    const { png } = await launcher.call('screenshot', { moveCursor }, signal);
    return { type: 'png', image: Buffer.from(png, 'base64') };
  },
};

function agent({ launcher, signal }: Call, execute: string): Promise<unknown> {
  return launcher.call('guestAgent', { execute }, signal);
}

/** Agents lack commands, and refuse some while file systems are frozen. */
async function optional(call: Call, execute: string): Promise<unknown> {
  try {
    return await agent(call, execute);
  } catch (error) {
    if (error instanceof LauncherError && error.code === launcherErrorCodes.guestAgentUnavailable)
      return undefined;
    throw error;
  }
}
