/**
 * How the API server finds and dials a node agent, for the streams of a VMI. HTTPS with client certificates on both sides;
 * the agent's certificate carries the DNS name `nodeAgentServerName(node)`, the API server's the user `nativirt:apiserver`.
 */

/** Annotation of the Node, set by its agent: `host:port`. */
export const nodeAgentAddressAnnotation = 'nativirt.io/node-agent-address';
export const apiserverUser = 'nativirt:apiserver';

export function nodeAgentServerName(node: string): string {
  return `${node}.node-agent.nativirt.io`;
}

/**
 * `GET` with `Upgrade: websocket`, binary frames of raw bytes; the agent refuses before the upgrade with a Status. Query:
 * `uid` (the VMI's; a mismatch is 409), and for consoles `mode` as in `LauncherMethods.console`.
 */
export function nodeAgentStreamPath(namespace: string, name: string, stream: 'console' | 'vnc'): string {
  return `/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${stream}`;
}
