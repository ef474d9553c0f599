/**
 * The last word of a launcher in a pod: its termination message, which stays in the Pod when the kubelet has removed the pod's volumes. JSON
 * with the fields of `TerminationMessage`.
 */
import { finalStates, type DomainState, type DomainStatus } from './protocol.js';

export type TerminationMessage = Pick<DomainStatus, 'state' | 'reason' | 'message' | 'uid'>;

/** The kubelet keeps 4096 bytes; a sentence that is longer is cut. */
const longest = 4096;

export function terminationMessage({ state, reason, message, uid }: DomainStatus): string {
  const render = (text: string): string => JSON.stringify({ state, reason, message: text, uid });
  for (let length = message.length; ; length = Math.floor(length * 0.9)) {
    const text = render(message.slice(0, length));
    if (length === 0 || Buffer.byteLength(text) <= longest) return text;
  }
}

/** Undefined for what no launcher has written. */
export function parseTerminationMessage(text: string | undefined): TerminationMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { state, reason, message, uid } = value as Partial<Record<keyof TerminationMessage, unknown>>;
  const known = finalStates.find((final: DomainState) => final === state);
  if (known === undefined || typeof reason !== 'string' || typeof message !== 'string') return undefined;
  return { state: known, reason, message, uid: typeof uid === 'string' ? uid : undefined };
}
