/** `console` and `vnc`: a websocket from the client, relayed to the VMI's node agent. */
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { badRequest, conflict, notFound } from '../errors/api-error.js';
import { childTraceparent, parseTraceparent } from '../http/trace-context.js';
import type { Registry } from '../registry/registry.js';
import type { RequestContext } from '../request.js';
import { kubevirtGroup, servedEverywhere } from './groups.js';
import type { Connection, ConnectSubresource } from './interface.js';
import type { NodeAgentDialer, StreamName } from './node-agent-dialer.js';
import { acceptWebSocket, isWebSocketHandshake, relay } from './websocket.js';

export interface StreamDependencies {
  readonly registry: Pick<Registry, 'get'>;
  readonly dialer: NodeAgentDialer;
}

interface Stream {
  readonly name: StreamName;
  /** Throws a BadRequest if the VMI has no such device. */
  checkDevice(vmi: VirtualMachineInstance): void;
  /** The query that the agent gets. */
  agentQuery(query: URLSearchParams): Readonly<Record<string, string>>;
}

const consoleModes: ReadonlySet<string> = new Set(['write', 'read', 'force']);

const serialConsole: Stream = {
  name: 'console',
  checkDevice: ({ spec }) => {
    if (spec.domain.devices.autoattachSerialConsole === false) {
      throw badRequest('the VMI has no serial console: spec.domain.devices.autoattachSerialConsole is false');
    }
  },
  // KubeVirt's clients take the console over from whoever has it, unless they ask to preserve that session.
  agentQuery: (query) => {
    const mode = query.get('mode') ?? (query.get('preserveSession') === 'true' ? 'write' : 'force');
    if (!consoleModes.has(mode)) throw badRequest(`mode: must be one of ${[...consoleModes].join(', ')}`);
    return { mode };
  },
};

const vnc: Stream = {
  name: 'vnc',
  checkDevice: ({ spec }) => {
    if (spec.domain.devices.autoattachGraphicsDevice === false) {
      throw badRequest('the VMI has no display: spec.domain.devices.autoattachGraphicsDevice is false');
    }
  },
  agentQuery: (query): Record<string, string> =>
    query.get('preserveSession') === 'true' ? { preserveSession: 'true' } : {},
};

/** Served for the VMI, and for the VM that it belongs to. */
export function streamSubresources(dependencies: StreamDependencies): readonly ConnectSubresource[] {
  return [serialConsole, vnc].flatMap((stream) =>
    (['virtualmachineinstances', 'virtualmachines'] as const).map((resource) =>
      subresource(dependencies, stream, resource),
    ),
  );
}

function subresource(
  dependencies: StreamDependencies,
  stream: Stream,
  resource: 'virtualmachineinstances' | 'virtualmachines',
): ConnectSubresource {
  const kind = resource === 'virtualmachines' ? 'VirtualMachine' : 'VirtualMachineInstance';
  return {
    type: 'connect',
    resource,
    namespaced: true,
    name: stream.name,
    servedUnder: servedEverywhere,
    responseKind: { group: kubevirtGroup, version: 'v1', kind },
    verbs: ['get'],
    connect: async (context, request) => {
      if (!isWebSocketHandshake(request)) throw badRequest('a websocket handshake (version 13) is required');
      const query = stream.agentQuery(context.query);
      const vmi = await runningInstance(dependencies.registry, context, resource);
      stream.checkDevice(vmi);
      return dial(dependencies.dialer, context, vmi, stream.name, query);
    },
  };
}

async function runningInstance(
  registry: Pick<Registry, 'get'>,
  { info }: RequestContext,
  resource: 'virtualmachineinstances' | 'virtualmachines',
): Promise<VirtualMachineInstance> {
  const { namespace, name = '' } = info;
  const target = { group: kubevirtGroup, namespace, name };
  const vmi = await registry.get<VirtualMachineInstance>({ ...target, resource: 'virtualmachineinstances' });
  if (vmi === undefined) {
    if (resource === 'virtualmachines') {
      const vm = await registry.get<VirtualMachine>({ ...target, resource });
      if (vm !== undefined) throw conflict(kubevirtGroup, resource, name, 'VM is not running');
    }
    throw notFound(kubevirtGroup, resource, name);
  }
  const { phase = 'Pending', nodeName = '' } = vmi.status ?? {};
  if (phase !== 'Running' || nodeName === '') {
    const why = `VMI is not running: its phase is ${phase === '' ? 'Pending' : phase}`;
    throw conflict(kubevirtGroup, 'virtualmachineinstances', name, why);
  }
  return vmi;
}

async function dial(
  dialer: NodeAgentDialer,
  context: RequestContext,
  { metadata, status }: VirtualMachineInstance,
  stream: StreamName,
  query: Readonly<Record<string, string>>,
): Promise<Connection> {
  const trace = parseTraceparent(context.headers.traceparent);
  const backend = await dialer.open(
    {
      node: status?.nodeName ?? '',
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      uid: metadata.uid,
      stream,
      query,
      traceparent: trace && childTraceparent(trace),
    },
    context.signal,
  );
  return {
    accept: async (request, upgrade) => {
      const client = await acceptWebSocket(request, upgrade);
      if (client === undefined) {
        backend.terminate();
        return;
      }
      const done = relay(client, backend, context.signal);
      backend.resume();
      await done;
    },
    abandon: () => {
      backend.terminate();
    },
  };
}
