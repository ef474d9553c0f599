/**
 * Subresources that are no plain view of the stored object: actions on it (`start`) and streams to it (`console`).
 * `/status` and `/scale` belong to the generic registry.
 */
import type { IncomingMessage } from 'node:http';
import type { Handler, RequestContext, Verb } from '../request.js';
import type { UpgradeSocket } from '../http/exchange.js';

/** Where a subresource is served: beside its object, and for the clients of KubeVirt in a group of its own. */
export interface ServedUnder {
  readonly group: string;
  readonly versions: readonly string[];
}

interface SubresourceBase {
  /** Plural of the object's kind, or the name of what is of no object: `expand-vm-spec`. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** `start`, `vnc/screenshot`; empty for what is of no object. */
  readonly name: string;
  /** Whether further path segments are data of the request: `portforward/22/tcp`. */
  readonly takesPath?: boolean;
  readonly servedUnder: readonly ServedUnder[];
  /** What discovery says the answer is; of a stream, the object's kind. */
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly Verb[];
}

export interface ActionSubresource extends SubresourceBase {
  readonly type: 'action';
  readonly handle: Handler;
}

export interface ConnectSubresource extends SubresourceBase {
  readonly type: 'connect';
  /**
   * Reaches the other end, and only then says how to leave HTTP. Rejects with an `ApiError` before that: the client then
   * gets a Status and no upgrade.
   */
  readonly connect: (context: RequestContext, request: IncomingMessage) => Promise<Connection>;
}

export interface Connection {
  /** Answers the upgrade on the client's socket and relays until either end is gone; resolves then. */
  accept(request: IncomingMessage, upgrade: UpgradeSocket): Promise<void>;
  /** Lets go of the other end when the client has left before `accept`. */
  abandon(): void;
}

export type Subresource = ActionSubresource | ConnectSubresource;

export class SubresourceTable {
  readonly #byPath = new Map<string, Subresource>();

  constructor(readonly all: readonly Subresource[]) {
    for (const subresource of all) {
      for (const { group, versions } of subresource.servedUnder) {
        for (const version of versions) {
          this.#byPath.set(pathKey(group, version, subresource.resource, subresource.name), subresource);
        }
      }
    }
  }

  find(group: string, version: string, resource: string, path: string): Subresource | undefined {
    const exact = this.#byPath.get(pathKey(group, version, resource, path));
    if (exact !== undefined) return exact;
    const [first = ''] = path.split('/');
    const candidate = this.#byPath.get(pathKey(group, version, resource, first));
    return candidate?.takesPath === true ? candidate : undefined;
  }
}

function pathKey(group: string, version: string, resource: string, name: string): string {
  return `${group}/${version}/${resource}/${name}`;
}
