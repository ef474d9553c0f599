/** From the path and query of a stream request to the launcher's socket. */
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { launcherErrorCodes, podLayout, type LauncherMethods } from '../../openapi/launcher/protocol.js';
import type { Informer } from '../../controllers/runtime/informer.js';
import { connectUnix, LauncherConnectionError, LauncherError, openConsole } from '../launcher-client.js';
import type { PodDirectories, PodDirectory } from '../pod-directory.js';
import { Refusal } from './refusal.js';

type ConsoleMode = LauncherMethods['console']['params']['mode'];

export interface StreamRequest {
  readonly namespace: string;
  readonly name: string;
  readonly stream: 'console' | 'vnc';
  readonly uid: string;
  readonly mode: ConsoleMode;
}

const pathPattern = /^\/v1\/namespaces\/([^/]+)\/virtualmachineinstances\/([^/]+)\/(console|vnc)$/;
const modes: readonly ConsoleMode[] = ['write', 'read', 'force'];

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new Refusal('BadRequest', `the path has an invalid escape: ${text}`, { cause: error });
  }
}

/** Throws `Refusal`. */
export function parseStreamRequest(method: string | undefined, target: string): StreamRequest {
  if (method !== 'GET') throw new Refusal('MethodNotAllowed', 'streams are opened with GET');
  if (!URL.canParse(target, 'http://agent')) throw new Refusal('BadRequest', 'the request target is no URL');
  const url = new URL(target, 'http://agent');
  const match = pathPattern.exec(url.pathname);
  if (match === null) throw new Refusal('NotFound', `there is no stream at ${url.pathname}`);
  const [, namespace = '', name = '', stream] = match;
  const uid = url.searchParams.get('uid') ?? '';
  if (uid === '') throw new Refusal('BadRequest', 'the query parameter uid is missing');
  const wanted = url.searchParams.get('mode') ?? 'write';
  const mode = modes.find((known) => known === wanted);
  if (mode === undefined)
    throw new Refusal('BadRequest', `mode must be one of ${modes.join(', ')}, not "${wanted}"`);
  return {
    namespace: decode(namespace),
    name: decode(name),
    stream: stream === 'vnc' ? 'vnc' : 'console',
    uid,
    mode,
  };
}

export interface StreamTargets {
  readonly nodeName: string;
  /** VMIs of this node. */
  readonly informer: Informer<VirtualMachineInstance>;
  readonly directories: PodDirectories;
}

function launcherOf(request: StreamRequest, targets: StreamTargets): PodDirectory {
  const { namespace, name, uid } = request;
  const vmi = targets.informer.get({ namespace, name });
  const what = `VirtualMachineInstance "${name}" in namespace "${namespace}"`;
  if (vmi === undefined) throw new Refusal('NotFound', `${what} does not run on node ${targets.nodeName}`);
  if (vmi.metadata.uid !== uid) {
    throw new Refusal('Conflict', `${what} has another UID than asked for: it was made anew`);
  }
  const pods = Object.entries(vmi.status?.activePods ?? {});
  const pod = pods.find(([, node]) => node === targets.nodeName)?.[0];
  if (pod === undefined) throw new Refusal('Conflict', `${what} has no launcher on node ${targets.nodeName}`);
  return targets.directories.of(pod);
}

/** Opens the launcher's end of the stream. Rejects with `Refusal`. */
export async function openStream(
  request: StreamRequest,
  targets: StreamTargets,
  signal: AbortSignal,
): Promise<Socket> {
  const directory = launcherOf(request, targets);
  try {
    if (request.stream === 'vnc') return await connectUnix(join(directory.path, podLayout.vncSocket), signal);
    return (await openConsole(directory.controlSocket, request.mode, signal)).socket;
  } catch (error) {
    throw toRefusal(request, error);
  }
}

function toRefusal({ name, stream }: StreamRequest, error: unknown): unknown {
  if (error instanceof LauncherError) {
    const busy =
      error.code === launcherErrorCodes.consoleBusy || error.code === launcherErrorCodes.invalidState;
    return new Refusal(busy ? 'Conflict' : 'InternalError', error.message, { cause: error });
  }
  if (!(error instanceof LauncherConnectionError)) return error;
  if (stream === 'vnc' && error.message.includes('ENOENT')) {
    return new Refusal(
      'NotFound',
      `VirtualMachineInstance "${name}" has no graphics device, or does not run yet`,
    );
  }
  return new Refusal(
    'ServiceUnavailable',
    `the launcher of VirtualMachineInstance "${name}" cannot be reached`,
    {
      cause: error,
    },
  );
}
