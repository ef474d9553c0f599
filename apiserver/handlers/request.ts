/** What handlers get: a request that names a resource that is served, in a version that is served. */
import type { Reply, RequestContext } from '../request.js';
import type { WriteContext } from '../registry/admit.js';
import type { Delete } from '../registry/delete.js';
import type { Endpoint } from '../registry/endpoint.js';
import type { WritePath } from '../registry/write-path.js';
import type { SharedEvents } from './shared-events.js';

export interface ResourceRequest {
  readonly context: RequestContext;
  readonly endpoint: Endpoint;
  readonly version: string;
  /** Undefined for cluster-scoped kinds, and for lists and watches of all namespaces. */
  readonly namespace: string | undefined;
}

/** A request for one object. */
export interface ObjectRequest extends ResourceRequest {
  readonly name: string;
}

/** What handlers use to serve requests. */
export interface Serving {
  readonly writes: WritePath;
  readonly remove: Delete;
  readonly sharedEvents: SharedEvents;
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after `milliseconds`; returns how to cancel it. */
  timer(milliseconds: number, callback: () => void): () => void;
  /** At least 0, less than 1. */
  random(): number;
}

export type ResourceHandler = (serving: Serving, request: ResourceRequest) => Promise<Reply>;
export type ObjectHandler = (serving: Serving, request: ObjectRequest) => Promise<Reply>;

/** The User-Agent's product, which names the manager of fields when the client does not. */
function userAgentManager(userAgent: string | undefined): string {
  const product = (userAgent ?? '').split('/', 1)[0] ?? '';
  const printable = product.replace(/[^\x20-\x7e]/g, '').slice(0, 128);
  return printable === '' ? 'unknown' : printable;
}

export function writeContext(
  { context, endpoint, version, namespace }: ResourceRequest,
  { dryRun, fieldManager }: { readonly dryRun: boolean; readonly fieldManager: string | undefined },
): WriteContext {
  // A write that is tried again says the same again.
  const warned = new Set<string>();
  return {
    endpoint,
    version,
    namespace,
    subresource: context.info.subresource,
    user: context.user,
    dryRun,
    manager: fieldManager ?? userAgentManager(context.headers['user-agent']),
    warn: (text) => {
      if (warned.has(text)) return;
      warned.add(text);
      context.warn(text);
    },
    annotate: (key, value) => {
      context.annotate?.(key, value);
    },
    get signal() {
      return context.signal;
    },
  };
}
