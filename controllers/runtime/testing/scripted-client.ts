/** A `Client` whose lists and watches follow a script, to test what a reflector makes of a server's faults. */
import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type { KubernetesObject, ObjectList } from '../../../openapi/meta.js';
import type { Client, Kind, ListParams, WatchEvent, WatchParams } from '../client.js';
import { pods } from '../kinds.js';
import { FakeClient } from './fake-client.js';
import { overriding } from './overriding.js';
import { statusError } from './status-error.js';

export type WatchStep =
  | WatchEvent<Pod>
  /** The server ends the watch, or it breaks. */
  | { readonly end: true }
  | { readonly error: Error };

export interface Script {
  /** What the lists answer, one after another; the last for ever. */
  readonly lists: (ObjectList<Pod> | Error)[];
  /** The server knows `sendInitialEvents`; one that does not refuses such a watch, and serves lists. */
  readonly streams?: true;
  /** What each watch does, step by step; a watch whose steps are done stays open and silent. */
  readonly watches: WatchStep[][];
}

export class ScriptedClient {
  readonly lists: ListParams[] = [];
  readonly watches: WatchParams[] = [];
  readonly client: Client;

  constructor(private readonly script: Script) {
    // Its script is about pods; whoever asks for another kind gets pods all the same.
    this.client = overriding(new FakeClient(), {
      list: <T extends KubernetesObject>(_kind: Kind<T>, params: ListParams = {}) =>
        this.#list(params) as Promise<ObjectList<KubernetesObject>> as Promise<ObjectList<T>>,
      watch: <T extends KubernetesObject>(_kind: Kind<T>, params: WatchParams, signal?: AbortSignal) =>
        this.#watch(params, signal) as AsyncIterable<WatchEvent<KubernetesObject>> as AsyncIterable<
          WatchEvent<T>
        >,
    });
  }

  #list(params: ListParams): Promise<ObjectList<Pod>> {
    const answer = this.script.lists[Math.min(this.lists.length, this.script.lists.length - 1)];
    this.lists.push(params);
    if (answer === undefined) throw new Error('the script has no list');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }

  async *#watch(params: WatchParams, signal?: AbortSignal): AsyncGenerator<WatchEvent<Pod>> {
    if (params.sendInitialEvents === true && this.script.streams !== true) throw statusError('Invalid', pods);
    const steps = this.script.watches[this.watches.length] ?? [];
    this.watches.push(params);
    for (const step of steps) {
      if ('error' in step) throw step.error;
      if ('end' in step) return;
      yield step;
    }
    await new Promise<void>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }
}

export function pod(name: string, version: number, uid = `uid-${name}`): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name,
      uid,
      resourceVersion: String(version),
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
  };
}

export function podList(version: number, items: Pod[], next?: string): ObjectList<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'PodList',
    metadata: { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) },
    items,
  };
}
