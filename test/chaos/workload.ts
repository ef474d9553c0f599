/** Clients that write, read and watch on all replicas, and note what they are told. */
import { setTimeout } from 'node:timers/promises';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { isExpired, isNotFound, StatusError } from '../../controllers/runtime/errors.js';
import { virtualMachinePreferences as kind } from '../../controllers/runtime/kinds.js';
import type { VirtualMachinePreference } from '../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import type { ObjectList } from '../../openapi/meta.js';
import { markPrefix, versionOf, type History, type Version, type WriteRecord } from './history.js';
import type { Random } from './random.js';
import type { Replica } from './replicas.js';

export interface Workload {
  readonly replicas: readonly Replica[];
  readonly history: History;
  readonly random: Random;
}

const namespace = 'default';
const names = Array.from({ length: 12 }, (_, index) => `preference-${index}`);

interface Reached {
  readonly index: number;
  readonly client: HttpClient;
}

/** One of those that are up, any of them. */
async function reach({ replicas, random }: Workload): Promise<Reached> {
  for (;;) {
    const up = replicas.flatMap(({ index, client }) => (client === undefined ? [] : [{ index, client }]));
    if (up.length > 0) return random.pick(up);
    await setTimeout(50);
  }
}

const toVersion = ({ metadata }: VirtualMachinePreference): Version =>
  versionOf(metadata, Number(metadata.resourceVersion));

/** Writes until the signal aborts; one request at a time. */
export async function write(workload: Workload, writer: string, signal: AbortSignal): Promise<void> {
  const { random, history } = workload;
  for (let count = 0; !signal.aborted; count++) {
    const attempt = await prepare(workload, writer, `${writer}-${count}`);
    if (attempt === undefined) continue;
    const { record, send } = attempt;
    history.writes.push(record);
    try {
      const version = await send();
      record.outcome = 'done';
      if (version !== undefined) {
        record.version = version;
        history.learn(version.revision);
      }
    } catch (error) {
      record.outcome = isRefusal(error) ? 'refused' : 'unknown';
      if (record.outcome === 'unknown') await setTimeout(random.integer(200));
    }
    await setTimeout(random.integer(20));
  }
}

/** A server that says why it does not do what is asked has not done it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof StatusError && error.code >= 400 && error.code < 500;

interface Attempt {
  readonly record: WriteRecord;
  readonly send: () => Promise<Version | undefined>;
}

async function prepare(workload: Workload, writer: string, operation: string): Promise<Attempt | undefined> {
  const { random, history } = workload;
  const name = random.pick(names);
  const verb = random.pick(['create', 'create', 'update', 'update', 'patch', 'patch', 'delete'] as const);
  const annotations = { [markPrefix + writer]: operation };
  const record = { writer, operation, name, outcome: 'unknown' } as const;
  if (verb === 'create' || verb === 'patch') {
    const { client } = await reach(workload);
    return {
      record: { ...record, verb, known: history.known },
      send: async () =>
        toVersion(
          verb === 'create'
            ? await client.create(kind, {
                apiVersion: 'instancetype.kubevirt.io/v1beta1',
                kind: 'VirtualMachinePreference',
                metadata: { name, namespace, annotations },
                spec: {},
              })
            : await client.patch(
                kind,
                { name, namespace },
                { type: 'merge', body: { metadata: { annotations } } },
              ),
        ),
    };
  }
  const current = await get(workload, name);
  if (current === undefined) return undefined;
  const { uid } = current.metadata;
  // What one replica has told counts at every other.
  const { client } = await reach(workload);
  if (verb === 'delete') {
    return {
      record: { ...record, verb, expected: { uid }, known: history.known },
      send: async () => {
        await client.delete(kind, { name, namespace }, { preconditions: { uid } });
        return undefined;
      },
    };
  }
  const revision = Number(current.metadata.resourceVersion);
  const metadata = { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } };
  return {
    record: { ...record, verb, expected: { uid, revision }, known: history.known },
    send: async () => toVersion(await client.update(kind, { ...current, metadata })),
  };
}

/** Undefined if it is not there, or if no answer came. */
async function get(workload: Workload, name: string): Promise<VirtualMachinePreference | undefined> {
  const { history } = workload;
  const { index, client } = await reach(workload);
  const { known } = history;
  const note = (version: Version | undefined): void => {
    history.reads.push({ known, replica: index, result: { kind: 'get', name, version } });
    if (version !== undefined) history.learn(version.revision);
  };
  try {
    const found = await client.get(kind, { name, namespace });
    note(toVersion(found));
    return found;
  } catch (error) {
    if (isNotFound(error)) note(undefined);
    return undefined;
  }
}

/** Lists until the signal aborts: whole, or page by page from one replica after the other. */
export async function read(workload: Workload, signal: AbortSignal): Promise<void> {
  const { random, history } = workload;
  while (!signal.aborted) {
    const { known } = history;
    const paged = random.fraction() < 0.3;
    try {
      const versions: Version[] = [];
      let first: { readonly revision: number; readonly replica: number } | undefined;
      for (let next: string | undefined = ''; next !== undefined;) {
        const { index, client } = await reach(workload);
        const page: ObjectList<VirtualMachinePreference> = await client.list(kind, {
          namespace,
          ...(paged ? { limit: 4 } : {}),
          ...(next === '' ? {} : { continue: next }),
        });
        versions.push(...page.items.map(toVersion));
        first ??= { revision: Number(page.metadata.resourceVersion), replica: index };
        next = page.metadata.continue === '' ? undefined : page.metadata.continue;
      }
      if (first === undefined) continue;
      const { revision, replica } = first;
      history.reads.push({ known, replica, result: { kind: 'list', revision, versions } });
      history.learn(revision);
    } catch {
      // No list is no answer: what is checked is what lists say. How many there were is told at the end.
      await setTimeout(random.integer(200));
    }
    await setTimeout(random.integer(50));
  }
}

/** Follows the collection, from one replica to the next when a watch ends, until it has heard of `end()`. */
export async function watch(workload: Workload, watcher: string, end: () => number): Promise<void> {
  const { history, random } = workload;
  let record: History['watches'][number] | undefined;
  let position = 0;
  while (position < end()) {
    const stop = new AbortController();
    try {
      const { client } = await reach(workload);
      if (record === undefined) {
        const { metadata } = await client.list(kind, { namespace });
        position = Number(metadata.resourceVersion);
        record = { watcher, from: position, events: [] };
        history.watches.push(record);
      }
      const timeoutSeconds = 1 + random.integer(5);
      const params = { namespace, resourceVersion: String(position), timeoutSeconds };
      for await (const event of (await reach(workload)).client.watch(kind, params, stop.signal)) {
        const bookmark = event.type === 'BOOKMARK';
        position = Number(bookmark ? event.resourceVersion : event.object.metadata.resourceVersion);
        const name = bookmark ? '' : event.object.metadata.name;
        record.events.push({ type: event.type, revision: position, name });
        history.learn(position);
        if (position >= end()) break;
      }
    } catch (error) {
      if (isExpired(error)) record = undefined;
      await setTimeout(random.integer(200));
    } finally {
      stop.abort();
    }
  }
}
