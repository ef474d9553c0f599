/** `console`, `vnc`, `portforward`, `vsock` and `usbredir`: a websocket from the client, relayed to the VMI's node agent. */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { NodeAgentStream } from '../../openapi/node-agent.js';
import { badRequest } from '../errors/api-error.js';
import type { Registry } from '../registry/registry.js';
import type { RequestContext } from '../request.js';
import { checkDisplay } from './displays.js';
import {
  addressOf,
  cannot,
  findRunningInstance,
  hasCondition,
  instanceResources,
  onInstance,
  type InstanceResource,
} from './instances.js';
import type { Connection, ConnectSubresource } from './interface.js';
import type { InstanceAddress, NodeAgentDialer } from './node-agent-dialer.js';
import { acceptWebSocket, isWebSocketHandshake, relay } from './websocket.js';

export interface StreamDependencies {
  readonly registry: Pick<Registry, 'get'>;
  readonly dialer: NodeAgentDialer;
}

interface Stream {
  readonly name: NodeAgentStream;
  readonly takesPath?: boolean;
  /** Throws where the VMI has no such device, or its state does not allow it. */
  check(vmi: VirtualMachineInstance): void;
  /** The query that the agent gets. Throws a BadRequest. */
  agentQuery(context: RequestContext): Readonly<Record<string, string>>;
}

const consoleModes: ReadonlySet<string> = new Set(['write', 'read', 'force', 'history']);

const serialConsole: Stream = {
  name: 'console',
  check: ({ spec }) => {
    if (spec.domain.devices.autoattachSerialConsole === false) {
      throw badRequest('the VMI has no serial console: spec.domain.devices.autoattachSerialConsole is false');
    }
  },
  // KubeVirt's clients take the console over from whoever has it, unless they ask to preserve that session.
  agentQuery: ({ query }) => {
    const mode = query.get('mode') ?? (query.get('preserveSession') === 'true' ? 'write' : 'force');
    if (!consoleModes.has(mode)) throw badRequest(`mode: must be one of ${[...consoleModes].join(', ')}`);
    return { mode };
  },
};

const vnc: Stream = {
  name: 'vnc',
  check: checkDisplay,
  agentQuery: ({ query }): Record<string, string> =>
    query.get('preserveSession') === 'true' ? { preserveSession: 'true' } : {},
};

const portForward: Stream = {
  name: 'portforward',
  takesPath: true,
  check: (vmi) => {
    if (hasCondition(vmi, 'Paused')) throw cannot(vmi, 'VMI is paused');
  },
  agentQuery: ({ info }) => {
    const [, port = '', protocol = 'tcp', ...rest] = (info.subresource ?? '').split('/');
    if (rest.length > 0 || (protocol !== 'tcp' && protocol !== 'udp'))
      throw badRequest('portforward: the path must be portforward/PORT, PORT/tcp or PORT/udp');
    return { port: portNumber(port, 65535), protocol };
  },
};

const vsock: Stream = {
  name: 'vsock',
  check: ({ spec }) => {
    if (spec.domain.devices.autoattachVSOCK !== true)
      throw badRequest('the VMI has no vsock device: spec.domain.devices.autoattachVSOCK is not true');
  },
  agentQuery: ({ query }) => {
    const tls = query.get('tls') ?? 'true';
    if (tls !== 'true' && tls !== 'false') throw badRequest('tls: must be true or false');
    return { port: portNumber(query.get('port') ?? '', 0xffffffff), tls };
  },
};

const usbRedirection: Stream = {
  name: 'usbredir',
  check: (vmi) => {
    if (vmi.spec.domain.devices.clientPassthrough === undefined)
      throw cannot(vmi, 'it has no USB redirection: spec.domain.devices.clientPassthrough is not set');
  },
  agentQuery: () => ({}),
};

function portNumber(text: string, largest: number): string {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > largest)
    throw badRequest(`port: ${JSON.stringify(text.slice(0, 20))} is no number from 1 to ${largest}`);
  return String(port);
}

/** Served for the VMI, and for the VM that it belongs to. */
export function streamSubresources(dependencies: StreamDependencies): readonly ConnectSubresource[] {
  return [serialConsole, vnc, portForward, vsock, usbRedirection].flatMap((stream) =>
    instanceResources.map((resource) => subresource(dependencies, stream, resource)),
  );
}

function subresource(
  { registry, dialer }: StreamDependencies,
  stream: Stream,
  resource: InstanceResource,
): ConnectSubresource {
  return {
    type: 'connect',
    ...onInstance(resource),
    name: stream.name,
    ...(stream.takesPath === true ? { takesPath: true } : {}),
    verbs: ['get'],
    connect: async (context, request) => {
      if (!isWebSocketHandshake(request)) throw badRequest('a websocket handshake (version 13) is required');
      const query = stream.agentQuery(context);
      const vmi = await findRunningInstance(registry, context, resource);
      stream.check(vmi);
      return dial(dialer, { ...addressOf(vmi, context), stream: stream.name, query }, context.signal);
    },
  };
}

async function dial(
  dialer: NodeAgentDialer,
  request: InstanceAddress & {
    readonly stream: NodeAgentStream;
    readonly query: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
): Promise<Connection> {
  const backend = await dialer.open(request, signal);
  return {
    accept: async (upgradeRequest, upgrade) => {
      const client = await acceptWebSocket(upgradeRequest, upgrade);
      if (client === undefined) {
        backend.terminate();
        return;
      }
      const done = relay(client, backend, signal);
      backend.resume();
      await done;
    },
    abandon: () => {
      backend.terminate();
    },
  };
}
