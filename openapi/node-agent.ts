/**
 * How the API server finds and dials a node agent, for the streams and actions of a VMI. HTTPS with client certificates on both sides;
 * the agent's certificate carries the DNS name `nodeAgentServerName(node)`, the API server's the user `nativirt:apiserver`.
 */

/** Annotation of the Node, set by its agent: `host:port`. */
export const nodeAgentAddressAnnotation = 'nativirt.io/node-agent-address';
export const apiserverUser = 'nativirt:apiserver';

/** One label for the whole name of a node, so that one certificate for `*` is good for all of them. */
export function nodeAgentServerName(node: string): string {
  return `${node.replaceAll('.', '-')}.node-agent.nativirt.io`;
}

/**
 * Streams of a VMI: `GET` with `Upgrade: websocket`, binary frames of raw bytes. The agent refuses before the upgrade with a
 * Status. Query: `uid` (the VMI's; a mismatch is 409) and
 * - console: `mode` as in `LauncherMethods.console`
 * - vnc, usbredir: `preserveSession=true` to be refused rather than to end the session of somebody else
 * - portforward: `port`, and `protocol`: `tcp` (default) or `udp`, where each frame is a datagram
 * - vsock: `port`, and `tls`: `true` (default) or `false`
 */
export const nodeAgentStreams = ['console', 'vnc', 'portforward', 'vsock', 'usbredir'] as const;
export type NodeAgentStream = (typeof nodeAgentStreams)[number];

/**
 * Calls: `PUT` to change something, answered with 204; `GET` to read, answered with JSON or, for `screenshot`, a PNG image.
 * No body. Query: `uid`, and
 * - freeze: `unfreezeTimeoutSeconds`
 * - screenshot: `moveCursor=true`
 */
export const nodeAgentActions = ['pause', 'unpause', 'freeze', 'unfreeze', 'softreboot', 'reset'] as const;
export type NodeAgentAction = (typeof nodeAgentActions)[number];
export const nodeAgentReads = ['guestosinfo', 'userlist', 'filesystemlist', 'screenshot'] as const;
export type NodeAgentRead = (typeof nodeAgentReads)[number];

export function nodeAgentPath(
  namespace: string,
  name: string,
  subject: NodeAgentStream | NodeAgentAction | NodeAgentRead,
): string {
  return `/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${subject}`;
}
