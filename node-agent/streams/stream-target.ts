/** From a stream request to its other end: the launcher, or a socket of QEMU. */
import type { Duplex } from 'node:stream';
import { join } from 'node:path';
import { nodeAgentStreams, type NodeAgentStream } from '../../openapi/node-agent.js';
import { podLayout, type LauncherMethods } from '../../openapi/launcher/protocol.js';
import { openConsole, openPort } from '../launcher-client.js';
import { connectUnix } from '../unix-socket.js';
import type { ExclusiveSessions } from './exclusive-sessions.js';
import { launcherRefusal, Refusal } from './refusal.js';
import { findInstance, type FoundInstance, type InstanceRequest, type Instances } from './request.js';
import { openUsbRedirection } from './usb-redirection.js';
import { connectVsock, type VsockCredentials } from './vsock.js';

export interface StreamTarget {
  readonly socket: Duplex;
  /** `datagrams`: framed on the socket, one a message on the websocket. */
  readonly carries: 'bytes' | 'datagrams';
  /** Aborts when another client takes the stream over. */
  readonly takenOver?: AbortSignal;
  /** Lets the next client have what only one may. */
  release?(): void;
}

export interface StreamTargets extends Instances {
  readonly sessions: ExclusiveSessions;
  readonly vsockCredentials: () => VsockCredentials;
}

interface Opening {
  readonly request: InstanceRequest;
  readonly found: FoundInstance;
  readonly targets: StreamTargets;
  readonly signal: AbortSignal;
}

const modes = [
  'write',
  'read',
  'force',
  'history',
] as const satisfies LauncherMethods['console']['params']['mode'][];

const open: Readonly<Record<NodeAgentStream, (opening: Opening) => Promise<StreamTarget>>> = {
  async console({ request: { query }, found: { directory }, signal }) {
    const wanted = query.get('mode') ?? 'write';
    const mode = modes.find((known) => known === wanted);
    if (mode === undefined)
      throw new Refusal('BadRequest', `mode must be one of ${modes.join(', ')}, not "${wanted}"`);
    const { socket } = await openConsole(directory.controlSocket, mode, signal);
    return { socket, carries: 'bytes' };
  },

  async vnc({ request: { query, uid }, found: { directory }, targets, signal }) {
    const preserve = query.get('preserveSession') === 'true';
    const session = targets.sessions.claim(`${uid}/vnc`, preserve, 'another session has this display');
    try {
      const socket = await connectUnix(join(directory.path, podLayout.vncSocket), signal);
      return { socket, carries: 'bytes', takenOver: session.takenOver, release: session.release };
    } catch (error) {
      session.release();
      throw error;
    }
  },

  async portforward({ request: { query }, found: { directory }, signal }) {
    const protocol = query.get('protocol') ?? 'tcp';
    if (protocol !== 'tcp' && protocol !== 'udp')
      throw new Refusal('BadRequest', `protocol must be tcp or udp, not "${protocol}"`);
    const port = portOf(query, 65535);
    const socket = await openPort(directory.controlSocket, { port, protocol }, signal);
    return { socket, carries: protocol === 'udp' ? 'datagrams' : 'bytes' };
  },

  async vsock({ request: { query }, found: { vmi }, targets, signal }) {
    const cid = vmi.status?.VSOCKCID;
    if (cid === undefined) throw new Refusal('Conflict', 'the VMI has no vsock context id');
    const credentials = query.get('tls') === 'false' ? undefined : targets.vsockCredentials();
    const socket = await connectVsock({ cid, port: portOf(query, 0xffffffff), credentials }, signal);
    return { socket, carries: 'bytes' };
  },

  usbredir: ({ request: { uid }, found: { directory }, targets, signal }) =>
    openUsbRedirection(directory.path, uid, targets.sessions, signal),
};

function portOf(query: URLSearchParams, largest: number): number {
  const text = query.get('port') ?? '';
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > largest)
    throw new Refusal('BadRequest', `port must be a number from 1 to ${largest}, not "${text}"`);
  return port;
}

/** Opens the VM's end of the stream. Rejects with `Refusal`. */
export async function openStream(
  request: InstanceRequest,
  targets: StreamTargets,
  signal: AbortSignal,
): Promise<StreamTarget> {
  const stream = nodeAgentStreams.find((known) => known === request.subject);
  if (stream === undefined) throw new Refusal('NotFound', `there is no stream ${request.subject}`);
  const found = findInstance(request, targets);
  try {
    return await open[stream]({ request, found, targets, signal });
  } catch (error) {
    if (stream === 'vnc' && error instanceof Error && error.message.includes('ENOENT')) {
      const why = `VirtualMachineInstance "${request.name}" has no graphics device, or does not run yet`;
      throw new Refusal('NotFound', why, { cause: error });
    }
    throw launcherRefusal(request.name, error);
  }
}
