import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { LauncherNetwork } from '../../openapi/launcher/network.js';
import { finalStates, type DomainStatus, type LauncherMethods } from '../../openapi/launcher/protocol.js';
import { defaultMachineSettings, type MachineSettings } from '../../openapi/launcher/settings.js';
import type { MachineStatistics } from '../../openapi/launcher/statistics.js';
import type { Console, ConsoleMode } from '../console.js';
import type { Domain } from '../domain.js';
import type { GuestAgent } from '../guest-agent.js';
import { GuestAgentError } from '../guest-agent.js';
import type { FileSystemFreeze } from '../freeze.js';
import type { GuestPorts, Protocol } from '../port-forward.js';
import type { Qemu } from '../qemu/process.js';
import { interfaceId } from '../qemu/network.js';
import { isObject, type JsonObject } from '../qmp/messages.js';
import { screenshot } from '../screenshot.js';
import { ControlError } from './errors.js';

/** The ways into the machine; undefined before it is there and after its end. */
export interface MachineChannels {
  /** Undefined where the VMI has no serial console. */
  readonly console: Console | undefined;
  readonly agent: GuestAgent | undefined;
  readonly freeze: FileSystemFreeze | undefined;
  readonly qmp: Qemu['qmp'] | undefined;
  /** Undefined while there is no QEMU. */
  readonly statistics: (() => Promise<MachineStatistics>) | undefined;
  /** Undefined also where the guest has no network. */
  readonly ports: GuestPorts | undefined;
}

/** What the control socket offers to its clients. */
export interface ControlTarget {
  readonly uid: string | undefined;
  readonly domain: Domain;
  readonly channels: MachineChannels;
}

/** Methods that answer and leave the connection as it is. The others are the connection's own. */
export type PlainMethod = Exclude<keyof LauncherMethods, 'subscribe' | 'console' | 'portForward'>;

type Handler = (target: ControlTarget, params: JsonObject) => Promise<unknown> | DomainStatus;

const methods: Readonly<Record<PlainMethod, Handler>> = {
  status: ({ domain }) => domain.status,
  start: (target, params) => {
    const vmi = vmiParameter(params);
    const uid = target.uid ?? target.domain.status.uid;
    if (uid !== undefined && vmi.metadata.uid !== uid) {
      const text = `this launcher runs the virtual machine instance ${uid}, not ${vmi.metadata.uid}`;
      throw new ControlError('wrongVirtualMachineInstance', text);
    }
    target.domain.start(vmi, networkParameter(params), settingsParameter(params));
    return target.domain.status;
  },
  shutdown: ({ domain }, { gracePeriodSeconds }) => {
    if (typeof gracePeriodSeconds !== 'number' || !(gracePeriodSeconds >= 0)) {
      throw new ControlError('invalidParams', 'gracePeriodSeconds must be a number of seconds, 0 or more');
    }
    domain.shutdown(gracePeriodSeconds);
    return domain.status;
  },
  pause: async ({ domain }) => {
    await domain.pause();
    return domain.status;
  },
  unpause: async ({ domain }) => {
    await domain.unpause();
    return domain.status;
  },
  reset: async ({ domain }) => {
    await domain.reset();
    return domain.status;
  },
  softReboot: async ({ domain, channels: { agent } }) => {
    await domain.softReboot(agent?.isConnected ? agent : undefined);
    return domain.status;
  },
  freeze: async ({ domain, channels }, { unfreezeTimeoutSeconds: seconds }) => {
    if (typeof seconds !== 'number' || !(seconds >= 0)) {
      throw new ControlError(
        'invalidParams',
        'unfreezeTimeoutSeconds must be a number of seconds, 0 or more',
      );
    }
    await freezeOf(channels, 'guest-fsfreeze-freeze').freeze(seconds * 1000);
    return domain.status;
  },
  unfreeze: async ({ domain, channels }) => {
    await freezeOf(channels, 'guest-fsfreeze-thaw').unfreeze();
    return domain.status;
  },
  screenshot: async ({ domain, channels: { qmp } }, { moveCursor }) => {
    if (!qmp)
      throw new ControlError(
        'invalidState',
        `a virtual machine that is ${domain.status.state} shows nothing`,
      );
    return { png: (await screenshot(qmp, moveCursor === true)).toString('base64') };
  },
  setLink: async ({ domain, channels: { qmp } }, { name, up }) => {
    if (typeof name !== 'string' || typeof up !== 'boolean')
      throw new ControlError('invalidParams', 'name must be an interface of the spec, up a boolean');
    if (!qmp)
      throw new ControlError('invalidState', `a virtual machine that is ${domain.status.state} has no links`);
    await qmp.execute('set_link', { name: interfaceId({ name }), up });
    return domain.status;
  },
  statistics: async ({ domain, channels: { statistics } }) => {
    if (statistics) return await statistics();
    throw new ControlError('invalidState', `a virtual machine that is ${domain.status.state} counts nothing`);
  },
  guestAgent: async ({ channels: { agent } }, params) => {
    const { execute, arguments: parameters } = params;
    if (typeof execute !== 'string')
      throw new ControlError('invalidParams', 'execute must be a command name');
    if (!agent) throw new GuestAgentError('disconnected', execute);
    return await agent.execute(execute, isObject(parameters) ? parameters : undefined);
  },
};

export async function callMethod(target: ControlTarget, method: string, params: unknown): Promise<unknown> {
  if (!isPlainMethod(method)) throw new ControlError('methodNotFound', `no method is named ${method}`);
  return await methods[method](target, isObject(params) ? params : {});
}

function isPlainMethod(method: string): method is PlainMethod {
  return Object.hasOwn(methods, method);
}

/** The console for a client, when it can have it in this mode. */
export function consoleFor(target: ControlTarget, params: unknown): { console: Console; mode: ConsoleMode } {
  const mode = isObject(params) ? params['mode'] : undefined;
  if (mode !== 'write' && mode !== 'read' && mode !== 'force' && mode !== 'history') {
    throw new ControlError('invalidParams', 'mode must be write, read, force or history');
  }
  const { state } = target.domain.status;
  const found = target.channels.console;
  if (!found) throw new ControlError('invalidState', 'the virtual machine has no serial console');
  if (finalStates.includes(state)) {
    throw new ControlError('invalidState', `the virtual machine has ended (${state})`);
  }
  if (!found.available(mode)) {
    throw new ControlError('consoleBusy', 'another session writes to this console; read only, or take over');
  }
  return { console: found, mode };
}

function freezeOf({ freeze }: MachineChannels, command: string): FileSystemFreeze {
  if (!freeze) throw new GuestAgentError('disconnected', command);
  return freeze;
}

export interface PortRequest {
  readonly ports: GuestPorts;
  readonly port: number;
  readonly protocol: Protocol;
}

/** What a client needs to reach a port of the guest. */
export function portForwardFor({ channels: { ports }, domain }: ControlTarget, params: unknown): PortRequest {
  const { port, protocol } = isObject(params) ? params : {};
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535) {
    throw new ControlError('invalidParams', 'port must be a number from 1 to 65535');
  }
  if (protocol !== 'tcp' && protocol !== 'udp') {
    throw new ControlError('invalidParams', 'protocol must be tcp or udp');
  }
  if (domain.status.state !== 'Running') {
    throw new ControlError(
      'invalidState',
      `a virtual machine that is ${domain.status.state} has no open ports`,
    );
  }
  if (!ports) throw new ControlError('invalidState', 'the virtual machine has no network interface');
  return { ports, port, protocol };
}

/** Made by the node agent, which alone has the control socket. */
function networkParameter({ network }: JsonObject): LauncherNetwork | undefined {
  return isObject(network) && isObject(network['interfaces'])
    ? (network as unknown as LauncherNetwork)
    : undefined;
}

/** Also the node agent's. */
function settingsParameter({ settings }: JsonObject): MachineSettings {
  return { ...defaultMachineSettings, ...(isObject(settings) ? settings : {}) };
}

/** The parts of a VMI without which nothing can be made of it; the API server has validated the rest. */
function vmiParameter({ vmi }: JsonObject): VirtualMachineInstance {
  const named = isObject(vmi) && isObject(vmi['metadata']) && typeof vmi['metadata']['uid'] === 'string';
  const specified = isObject(vmi) && isObject(vmi['spec']) && isObject(vmi['spec']['domain']);
  const devices =
    isObject(vmi) &&
    isObject(vmi['spec']) &&
    isObject(vmi['spec']['domain']) &&
    isObject(vmi['spec']['domain']['devices']);
  if (!named || !specified || !devices) {
    throw new ControlError(
      'invalidParams',
      'vmi must be a VirtualMachineInstance with metadata.uid and spec.domain.devices',
    );
  }
  // What else it holds was admitted by the API server.
  return vmi as unknown as VirtualMachineInstance;
}
