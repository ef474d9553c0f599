/** The parts of this system among the users. */
import type { UserInfo } from '../request.js';

/** Whether a user is a part of this system, which writes what users may not. */
export type IsComponent = (user: UserInfo) => boolean;

export interface NodeAgent {
  /** The node that it serves; undefined if its credentials do not say. */
  readonly node: string | undefined;
}

/** Undefined for everyone but node agents. */
export type NodeAgentOf = (user: UserInfo) => NodeAgent | undefined;

/** Where kube-apiserver puts the node of a service account token that is bound to a pod. */
const nodeNameExtra = 'authentication.kubernetes.io/node-name';

export function boundNode({ extra }: UserInfo): string | undefined {
  return extra[nodeNameExtra]?.[0];
}
