/**
 * The client that controllers and node agents use: raw JSON over HTTP/1.1, no generated models. `http-client.ts` implements
 * it; tests may fake it.
 */
import type { KubernetesObject, New, ObjectList } from '../../openapi/meta.js';

/** Names a kind and carries its TypeScript type. See `kinds.ts` for the ones we use. */
export interface Kind<T extends KubernetesObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** Never set: ties the type parameter to the value. */
  readonly type?: T;
}

export interface ObjectKey {
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface ListParams {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
}

export interface WatchParams {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Empty with `sendInitialEvents`: the newest. */
  readonly resourceVersion: string;
  /** What is there comes first, as ADDED, then a bookmark with `initialEventsEnd`. Refused by servers that know no such watches. */
  readonly sendInitialEvents?: true;
  readonly timeoutSeconds?: number;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd?: true };

export interface DeleteParams {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export type Patch =
  | { readonly type: 'merge'; readonly body: unknown }
  | { readonly type: 'json'; readonly body: readonly unknown[] }
  | { readonly type: 'apply'; readonly body: unknown; readonly force?: boolean };

/**
 * Every method rejects with `StatusError` (the server's Status: `reason`, `code`, `retryAfterSeconds`), with
 * `ConnectionError` if no answer came, or with the signal's reason.
 */
export interface Client {
  get<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, signal?: AbortSignal): Promise<T>;
  list<T extends KubernetesObject>(
    kind: Kind<T>,
    params?: ListParams,
    signal?: AbortSignal,
  ): Promise<ObjectList<T>>;
  /** Ends normally when the server ends it; a 410 in the stream is a `StatusError` with reason `Expired` or `Gone`. */
  watch<T extends KubernetesObject>(
    kind: Kind<T>,
    params: WatchParams,
    signal?: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
  create<T extends KubernetesObject>(kind: Kind<T>, object: New<T>, signal?: AbortSignal): Promise<T>;
  update<T extends KubernetesObject>(
    kind: Kind<T>,
    object: T,
    subresource?: string,
    signal?: AbortSignal,
  ): Promise<T>;
  patch<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    subresource?: string,
    signal?: AbortSignal,
  ): Promise<T>;
  delete<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    params?: DeleteParams,
    signal?: AbortSignal,
  ): Promise<void>;
  /** A subresource with a body of its own: `pods/x/binding`, `virtualmachines/x/stop`. */
  post<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    method: 'POST' | 'PUT',
    subresource: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<unknown>;
}
