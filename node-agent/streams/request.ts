/** What a request to the agent is about: one VMI of this node, found by its path and UID. */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Informer } from '../../controllers/runtime/informer.js';
import type { LauncherDirectories, LauncherDirectory } from '../launcher-directory.js';
import { Refusal } from './refusal.js';

export interface InstanceRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The last word of the path: what is wanted of the VMI. */
  readonly subject: string;
  readonly query: URLSearchParams;
}

export interface Instances {
  readonly nodeName: string;
  /** VMIs of this node. */
  readonly informer: Informer<VirtualMachineInstance>;
  readonly directories: LauncherDirectories;
}

export interface FoundInstance {
  readonly vmi: VirtualMachineInstance;
  readonly directory: LauncherDirectory;
}

const pathPattern = /^\/v1\/namespaces\/([^/]+)\/virtualmachineinstances\/([^/]+)\/([a-z]+)$/;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new Refusal('BadRequest', `the path has an invalid escape: ${text}`, { cause: error });
  }
}

/** Throws `Refusal`. */
export function parseRequest(target: string): InstanceRequest {
  if (!URL.canParse(target, 'http://agent')) throw new Refusal('BadRequest', 'the request target is no URL');
  const url = new URL(target, 'http://agent');
  const match = pathPattern.exec(url.pathname);
  if (match === null) throw new Refusal('NotFound', `there is nothing at ${url.pathname}`);
  const [, namespace = '', name = '', subject = ''] = match;
  const uid = url.searchParams.get('uid') ?? '';
  if (uid === '') throw new Refusal('BadRequest', 'the query parameter uid is missing');
  return { namespace: decode(namespace), name: decode(name), subject, uid, query: url.searchParams };
}

/** Throws `Refusal`. */
export function findInstance({ namespace, name, uid }: InstanceRequest, instances: Instances): FoundInstance {
  const { nodeName, informer, directories } = instances;
  const vmi = informer.get({ namespace, name });
  const what = `VirtualMachineInstance "${name}" in namespace "${namespace}"`;
  if (vmi === undefined) throw new Refusal('NotFound', `${what} does not run on node ${nodeName}`);
  if (vmi.metadata.uid !== uid) {
    throw new Refusal('Conflict', `${what} has another UID than asked for: it was made anew`);
  }
  const pods = Object.entries(vmi.status?.activePods ?? {});
  const pod = pods.find(([, node]) => node === nodeName)?.[0];
  if (pod === undefined) throw new Refusal('Conflict', `${what} has no launcher on node ${nodeName}`);
  return { vmi, directory: directories.of(pod) };
}
