/** The `Client` over HTTP. */
import type { KubernetesObject, New, ObjectList } from '../../openapi/meta.js';
import type {
  Client,
  DeleteParams,
  Kind,
  ListParams,
  ObjectKey,
  Patch,
  WatchEvent,
  WatchParams,
} from './client.js';
import { Transport, translate, type TransportOptions, type TransportRequest } from './transport.js';
import { watchEvents } from './watch-stream.js';

export interface HttpClientOptions extends Partial<TransportOptions> {
  readonly server: string;
  readonly credentials: TransportOptions['credentials'];
  /** Who managedFields names; the server derives it from the user agent if absent. */
  readonly fieldManager?: string;
  /** A watch without any byte for so long is taken for dead. Servers send bookmarks about once a minute. */
  readonly watchInactivityTimeout?: number;
  /** A longer watch event ends the watch. */
  readonly maxEventBytes?: number;
}

export interface HttpClient extends Client {
  /** GET of any path, for discovery and version: the parsed JSON. */
  raw(path: string, signal?: AbortSignal, accept?: string): Promise<unknown>;
  /** GET of any path: the bytes of the answer, whatever they are. */
  bytes(path: string, query?: URLSearchParams, signal?: AbortSignal): Promise<Buffer>;
  /** Drops kept connections. */
  close(): void;
}

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const transport = new Transport({
    userAgent: 'nativirt',
    requestTimeout: 60_000,
    maxBodyBytes: 512 * 1024 * 1024,
    ...options,
  });
  const writeQuery = (): URLSearchParams =>
    new URLSearchParams(options.fieldManager === undefined ? {} : { fieldManager: options.fieldManager });
  const maxEventBytes = options.maxEventBytes ?? 16 * 1024 * 1024;
  const inactivityTimeout = options.watchInactivityTimeout ?? 150_000;

  const client: Client = {
    // The server owns the shape of what it serves under a kind: hence the casts.
    async get<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, signal?: AbortSignal) {
      return (await transport.json({ method: 'GET', path: objectPath(kind, key) }, signal)) as T;
    },

    async list<T extends KubernetesObject>(kind: Kind<T>, params: ListParams = {}, signal?: AbortSignal) {
      const { namespace, ...rest } = params;
      const request = { method: 'GET', path: collectionPath(kind, namespace), query: toQuery(rest) };
      const list = (await transport.json(request, signal)) as ObjectList<T>;
      // Items of a list name no kind of their own.
      const apiVersion = apiVersionOf(kind);
      const items = list.items.map((item) => ({ ...item, apiVersion, kind: kind.kind }));
      return { ...list, items };
    },

    async *watch<T extends KubernetesObject>(kind: Kind<T>, params: WatchParams, signal?: AbortSignal) {
      const { namespace, ...rest } = params;
      const query = toQuery(rest);
      query.set('watch', 'true');
      query.set('allowWatchBookmarks', 'true');
      if (params.sendInitialEvents === true) query.set('resourceVersionMatch', 'NotOlderThan');
      const path = collectionPath(kind, namespace);
      const request: TransportRequest = { method: 'GET', path, query, inactivityTimeout };
      const response = await transport.stream(request, signal);
      try {
        yield* watchEvents<T>(response as AsyncIterable<Buffer>, maxEventBytes) as AsyncIterable<
          WatchEvent<T>
        >;
      } catch (error) {
        throw translate(error, request, signal);
      } finally {
        response.destroy();
      }
    },

    async create<T extends KubernetesObject>(kind: Kind<T>, object: New<T>, signal?: AbortSignal) {
      const path = collectionPath(kind, namespaceOf(kind, object.metadata.namespace));
      return (await transport.json({ method: 'POST', path, query: writeQuery(), body: object }, signal)) as T;
    },

    async update<T extends KubernetesObject>(
      kind: Kind<T>,
      object: T,
      subresource?: string,
      signal?: AbortSignal,
    ) {
      const path = objectPath(kind, object.metadata, subresource);
      return (await transport.json({ method: 'PUT', path, query: writeQuery(), body: object }, signal)) as T;
    },

    async patch<T extends KubernetesObject>(
      kind: Kind<T>,
      key: ObjectKey,
      patch: Patch,
      subresource?: string,
      signal?: AbortSignal,
    ) {
      const query = writeQuery();
      if (patch.type === 'apply') {
        if (!query.has('fieldManager')) query.set('fieldManager', options.userAgent ?? 'nativirt');
        query.set('force', String(patch.force ?? false));
      }
      const path = objectPath(kind, key, subresource);
      const contentType = patchTypes[patch.type];
      return (await transport.json(
        { method: 'PATCH', path, query, contentType, body: patch.body },
        signal,
      )) as T;
    },

    async delete<T extends KubernetesObject>(
      kind: Kind<T>,
      key: ObjectKey,
      params: DeleteParams = {},
      signal?: AbortSignal,
    ) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...params };
      await transport.json({ method: 'DELETE', path: objectPath(kind, key), body }, signal);
    },

    async post<T extends KubernetesObject>(
      kind: Kind<T>,
      key: ObjectKey,
      method: 'POST' | 'PUT',
      subresource: string,
      body: unknown,
      signal?: AbortSignal,
    ) {
      const path = objectPath(kind, key, subresource);
      return transport.json({ method, path, query: writeQuery(), body }, signal);
    },
  };

  return {
    ...client,
    raw: (path, signal, accept) =>
      transport.json({ method: 'GET', path, ...(accept === undefined ? {} : { accept }) }, signal),
    bytes: (path, query, signal) =>
      transport.bytes(
        { method: 'GET', path, accept: '*/*', ...(query === undefined ? {} : { query }) },
        signal,
      ),
    close: () => {
      transport.close();
    },
  };
}

export function apiVersionOf(kind: { readonly group: string; readonly version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

function collectionPath<T extends KubernetesObject>(kind: Kind<T>, namespace: string | undefined): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const scope =
    kind.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${kind.resource}`;
}

function objectPath<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, subresource?: string): string {
  const path = `${collectionPath(kind, namespaceOf(kind, key.namespace))}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

function namespaceOf<T extends KubernetesObject>(
  kind: Kind<T>,
  namespace: string | undefined,
): string | undefined {
  if (kind.namespaced && (namespace === undefined || namespace === ''))
    throw new TypeError(`a ${kind.kind} needs a namespace`);
  return namespace;
}

function toQuery(params: Readonly<Record<string, string | number | boolean | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined) query.set(name, String(value));
  return query;
}
