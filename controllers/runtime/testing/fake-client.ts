/**
 * A `Client` over objects in memory that behaves as the API server does where controllers depend on it: resource
 * versions, conflicts, preconditions, status apart from spec, generations, finalizers, watches with history. What it
 * serves is frozen.
 */
import { randomUUID } from 'node:crypto';
import jsonpatch from 'fast-json-patch';
import { mergePatch } from '../../../openapi/merge-patch.js';
import type { KubernetesObject, New, ObjectList } from '../../../openapi/meta.js';
import type {
  Client,
  DeleteParams,
  Kind,
  ListParams,
  ObjectKey,
  Patch,
  WatchEvent,
  WatchParams,
} from '../client.js';
import { systemClock, timestamp, type Clock } from '../clock.js';
import { keyOf } from '../object-key.js';
import { apiVersionOf } from '../http-client.js';
import { selects } from './selection.js';
import { statusError } from './status-error.js';

export interface RecordedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'post';
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly key: string;
  readonly body: unknown;
}

interface LogEntry {
  readonly resource: string;
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
  readonly before: KubernetesObject | undefined;
}

type AnyKind = Kind<KubernetesObject>;

export class FakeClient implements Client {
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #log: LogEntry[] = [];
  readonly #watchers = new Set<() => void>();
  #version = 0;
  /** Every write that was tried, in order. */
  readonly writes: RecordedWrite[] = [];
  /** Called before each write; throw to refuse it, or change objects to provoke conflicts. */
  beforeWrite: ((write: RecordedWrite) => void | Promise<void>) | undefined;

  constructor(private readonly clock: Clock = systemClock) {}

  get<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, signal?: AbortSignal): Promise<T> {
    return this.#run(signal, () => this.#existing(kind, key) as T);
  }

  list<T extends KubernetesObject>(
    kind: Kind<T>,
    params: ListParams = {},
    signal?: AbortSignal,
  ): Promise<ObjectList<T>> {
    return this.#run(signal, () => {
      const items = this.all(kind).filter((object) => selects(params, object));
      const start = params.continue === undefined ? 0 : Number(params.continue);
      const end = params.limit === undefined ? items.length : start + params.limit;
      const metadata = {
        resourceVersion: String(this.#version),
        ...(end < items.length ? { continue: String(end) } : {}),
      };
      return {
        apiVersion: apiVersionOf(kind),
        kind: `${kind.kind}List`,
        metadata,
        items: items.slice(start, end),
      };
    });
  }

  async *watch<T extends KubernetesObject>(
    kind: Kind<T>,
    params: WatchParams,
    signal: AbortSignal = new AbortController().signal,
  ): AsyncGenerator<WatchEvent<T>> {
    const streams = params.sendInitialEvents === true;
    const start = streams ? this.#version : Number(params.resourceVersion);
    let position = this.#log.findIndex((entry) => entry.version > start);
    if (position === -1) position = this.#log.length;
    if (streams) {
      const initial = this.all(kind).filter((object) => selects(params, object));
      for (const object of initial) yield { type: 'ADDED', object };
      yield { type: 'BOOKMARK', resourceVersion: String(start), initialEventsEnd: true };
    }
    for (;;) {
      signal.throwIfAborted();
      for (const entry of this.#log.slice(position)) {
        position += 1;
        const event = toEvent<T>(entry, kind, params);
        if (event !== undefined) yield event;
      }
      if (position === this.#log.length) await this.#changed(signal);
    }
  }

  create<T extends KubernetesObject>(kind: Kind<T>, object: New<T>, signal?: AbortSignal): Promise<T> {
    const name = object.metadata.name ?? `${object.metadata.generateName ?? ''}${randomUUID().slice(0, 5)}`;
    const key = { namespace: object.metadata.namespace, name };
    return this.#write({ verb: 'create', kind, key, body: object }, signal, () => {
      if (this.#objects.has(this.#id(kind, key))) throw statusError('AlreadyExists', kind, name);
      const rest = structuredClone(object) as Record<string, unknown>;
      delete rest.status;
      const created = {
        ...rest,
        ...(this.keepsStatusOnCreate(kind) ? { status: (object as { status?: unknown }).status } : {}),
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata: {
          ...object.metadata,
          name,
          uid: randomUUID(),
          generation: 1,
          creationTimestamp: timestamp(this.clock.now()),
        },
      };
      // The kind names the type of what is stored under it.
      return this.#store(kind, 'ADDED', created as unknown as KubernetesObject) as T;
    });
  }

  update<T extends KubernetesObject>(
    kind: Kind<T>,
    object: T,
    subresource?: string,
    signal?: AbortSignal,
  ): Promise<T> {
    const key = object.metadata;
    return this.#write({ verb: 'update', kind, key, subresource, body: object }, signal, () =>
      this.#replace(kind, key, subresource, () => object),
    );
  }

  patch<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    subresource?: string,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.#write({ verb: 'patch', kind, key, subresource, body: patch.body }, signal, () =>
      this.#replace(kind, key, subresource, (current) => {
        if (patch.type !== 'json') return mergePatch(withoutVersion(current), patch.body) as T;
        try {
          return jsonpatch.applyPatch(current, patch.body as jsonpatch.Operation[], true, false).newDocument;
        } catch {
          throw statusError('Invalid', kind, key.name);
        }
      }),
    );
  }

  delete<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    params: DeleteParams = {},
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#write({ verb: 'delete', kind, key, body: params }, signal, () => {
      this.#delete(kind, key, params);
    });
  }

  post<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    _method: 'POST' | 'PUT',
    subresource: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<unknown> {
    return this.#write({ verb: 'post', kind, key, subresource, body }, signal, () => {
      const current = this.#existing(kind, key) as KubernetesObject & { spec?: object };
      if (subresource === 'binding') {
        if (isBound(current)) throw statusError('Conflict', kind, key.name);
        const nodeName = (body as { target: { name: string } }).target.name;
        this.#store(kind, 'MODIFIED', {
          ...current,
          spec: { ...current.spec, nodeName },
        } as KubernetesObject);
      } else if (subresource === 'finalize') {
        const { spec } = body as { spec: { finalizers?: string[] } };
        const gone = current.metadata.deletionTimestamp !== undefined && spec.finalizers?.length === 0;
        this.#store(kind, gone ? 'DELETED' : 'MODIFIED', { ...current, spec } as KubernetesObject);
      } else if (subresource === 'eviction') this.#delete(kind, key, {});
      else throw statusError('NotFound', kind, key.name);
      return {};
    });
  }

  /** Everything of a kind, in the order of names. */
  all<T extends KubernetesObject>(kind: Kind<T>): T[] {
    const prefix = `${kind.group}/${kind.resource}/`;
    return [...this.#objects]
      .filter(([id]) => id.startsWith(prefix))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object as T);
  }

  find<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey): T | undefined {
    return this.#objects.get(this.#id(kind, key)) as T | undefined;
  }

  /** Writes past all rules, as the world outside would: `change` returns the whole new object. */
  put<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, change: (current: T) => T): T {
    const current = this.#existing(kind, key) as T;
    return this.#store(kind, 'MODIFIED', change(structuredClone(current))) as T;
  }

  /** Deletes past finalizers and grace. */
  remove<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey): void {
    this.#store(kind, 'DELETED', this.#existing(kind, key));
  }

  /** Kinds without a status subresource keep what is sent. */
  keepsStatusOnCreate<T extends KubernetesObject>(kind: Kind<T>): boolean {
    return kind.group === '' && ['nodes', 'namespaces'].includes(kind.resource);
  }

  #delete<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, params: DeleteParams): void {
    const current = this.#existing(kind, key);
    const { uid, resourceVersion } = params.preconditions ?? {};
    if (uid !== undefined && uid !== current.metadata.uid) throw statusError('Conflict', kind, key.name);
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion)
      throw statusError('Conflict', kind, key.name);
    const finalizers = [...(current.metadata.finalizers ?? []), ...propagationFinalizer(params)];
    const forced = kind.resource === 'pods' && params.gracePeriodSeconds === 0;
    if (current.metadata.deletionTimestamp !== undefined && !forced) return;
    const metadata = {
      ...current.metadata,
      ...(finalizers.length === 0 ? {} : { finalizers }),
      deletionTimestamp: timestamp(this.clock.now() + (params.gracePeriodSeconds ?? 0) * 1000),
      ...(kind.resource === 'pods' ? { deletionGracePeriodSeconds: params.gracePeriodSeconds ?? 30 } : {}),
      generation: (current.metadata.generation ?? 0) + 1,
    };
    const graceful = kind.resource === 'pods' && !forced && isBound(current);
    if (finalizers.length === 0 && !graceful) this.#store(kind, 'DELETED', current);
    else this.#store(kind, 'MODIFIED', { ...current, metadata });
  }

  #replace<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    subresource: string | undefined,
    change: (current: T) => T,
  ): T {
    const current = this.#existing(kind, key) as T;
    const wanted = change(current);
    const { uid, resourceVersion } = wanted.metadata as Partial<KubernetesObject['metadata']>;
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion)
      throw statusError('Conflict', kind, key.name);
    if (uid !== undefined && uid !== current.metadata.uid) throw statusError('Conflict', kind, key.name);
    const next = subresource === 'status' ? withStatusOf(current, wanted) : withoutStatusOf(current, wanted);
    if (sameContent(current, next)) return current;
    const finalizers = next.metadata.finalizers ?? [];
    // A namespace keeps its finalizers in its spec; they are taken away by `finalize`.
    const gone =
      next.metadata.deletionTimestamp !== undefined && finalizers.length === 0 && next.kind !== 'Namespace';
    return this.#store(kind, gone && !isBound(next) ? 'DELETED' : 'MODIFIED', next) as T;
  }

  #store<T extends KubernetesObject>(
    kind: Kind<T>,
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    object: KubernetesObject,
  ): KubernetesObject {
    this.#version += 1;
    const id = this.#id(kind, object.metadata);
    const before = this.#objects.get(id);
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = deepFreeze(structuredClone({ ...object, metadata }));
    if (type === 'DELETED') this.#objects.delete(id);
    else this.#objects.set(id, stored);
    const resource = `${kind.group}/${kind.resource}`;
    this.#log.push({ resource, version: this.#version, type, object: stored, before });
    for (const wake of [...this.#watchers]) wake();
    return stored;
  }

  #existing(kind: AnyKind, key: ObjectKey): KubernetesObject {
    const object = this.#objects.get(this.#id(kind, key));
    if (object === undefined) throw statusError('NotFound', kind, key.name);
    return object;
  }

  #id(kind: AnyKind, key: ObjectKey): string {
    return `${kind.group}/${kind.resource}/${keyOf(kind.namespaced ? key : { name: key.name })}`;
  }

  async #run<R>(signal: AbortSignal | undefined, work: () => R): Promise<R> {
    await Promise.resolve();
    signal?.throwIfAborted();
    return work();
  }

  async #write<R>(
    call: Omit<RecordedWrite, 'resource' | 'key' | 'subresource'> & {
      kind: AnyKind;
      key: ObjectKey;
      subresource?: string | undefined;
    },
    signal: AbortSignal | undefined,
    work: () => R,
  ): Promise<R> {
    const { verb, kind, key, subresource, body } = call;
    const write = { verb, resource: kind.resource, subresource, key: keyOf(key), body };
    await Promise.resolve();
    signal?.throwIfAborted();
    this.writes.push(write);
    await this.beforeWrite?.(write);
    return work();
  }

  async #changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#watchers.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#watchers.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

function toEvent<T extends KubernetesObject>(
  entry: LogEntry,
  kind: Kind<T>,
  params: WatchParams,
): WatchEvent<T> | undefined {
  if (entry.resource !== `${kind.group}/${kind.resource}`) return undefined;
  const matched = entry.before !== undefined && selects(params, entry.before);
  const matches = entry.type !== 'DELETED' && selects(params, entry.object);
  if (!matched && !matches) return undefined;
  const type = matched ? (matches ? 'MODIFIED' : 'DELETED') : 'ADDED';
  return { type, object: entry.object as T };
}

const propagationFinalizer = ({ propagationPolicy }: DeleteParams): string[] =>
  propagationPolicy === 'Foreground'
    ? ['foregroundDeletion']
    : propagationPolicy === 'Orphan'
      ? ['orphan']
      : [];

function isBound(object: KubernetesObject): boolean {
  if (object.kind !== 'Pod') return false;
  const { spec, status } = object as { spec?: { nodeName?: string }; status?: { phase?: string } };
  return spec?.nodeName !== undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

function withoutVersion<T extends KubernetesObject>(object: T): T {
  const metadata: Partial<T['metadata']> = { ...object.metadata };
  delete metadata.resourceVersion;
  return { ...object, metadata };
}

function withStatusOf<T extends KubernetesObject>(current: T, wanted: T): T {
  return { ...current, status: (wanted as { status?: unknown }).status };
}

function withoutStatusOf<T extends KubernetesObject>(current: T, wanted: T): T {
  const status = (current as { status?: unknown }).status;
  const next = {
    ...wanted,
    ...(status === undefined ? {} : { status }),
    metadata: { ...current.metadata, ...wanted.metadata },
  };
  for (const field of ['finalizers', 'ownerReferences', 'labels', 'annotations'] as const)
    if (wanted.metadata[field] === undefined) Reflect.deleteProperty(next.metadata, field);
  const spec = JSON.stringify((current as { spec?: unknown }).spec);
  if (JSON.stringify((next as { spec?: unknown }).spec) !== spec)
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  return next;
}

function sameContent(a: KubernetesObject, b: KubernetesObject): boolean {
  return JSON.stringify(withoutVersion(a)) === JSON.stringify(withoutVersion(b));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
