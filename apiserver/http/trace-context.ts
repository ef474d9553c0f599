/** W3C Trace Context: the ids that let one request be followed through every server it passes. */
import { randomBytes } from 'node:crypto';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The caller's span: 16 hexadecimal digits. */
  readonly parentId: string;
  readonly sampled: boolean;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** `undefined` if the header is absent or does not keep to the specification; then no trace goes on. */
export function parseTraceparent(header: string | string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string') return undefined;
  const match = pattern.exec(header);
  if (match === null) return undefined;
  const [, version, traceId = '', parentId = '', flags = '00', more] = match;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header for a request that this server makes on behalf of the traced one, with a span of its own. */
export function childTraceparent(trace: TraceContext): string {
  return `00-${trace.traceId}-${randomBytes(8).toString('hex')}-${trace.sampled ? '01' : '00'}`;
}
