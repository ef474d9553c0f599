/** What happened, as etcd's own history tells it. */
import type { KubernetesObject } from '../../openapi/meta.js';
import { decodeStored } from '../../apiserver/codec/stored-bytes.js';
import type { Backend, KeyValue, Revision } from '../../storage/interface.js';
import { versionOf, type Version } from './history.js';

export interface TrueEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: Revision;
  readonly name: string;
  /** Of a deletion, the last version. */
  readonly version: Version;
  readonly previous: Version | undefined;
}

/** Every change of the keys under `prefix`, from the beginning until now. */
export async function readTruth(backend: Backend, prefix: string): Promise<TrueEvent[]> {
  const end = await backend.currentRevision();
  const truth: TrueEvent[] = [];
  const as = { kind: 'Any', apiVersion: 'v1' };
  const toVersion = ({ value, modRevision }: KeyValue): Version => {
    const object: KubernetesObject = decodeStored(value, as, undefined);
    return versionOf(object.metadata, modRevision);
  };
  for await (const { revision, events } of backend.watch(prefix, 0, new AbortController().signal)) {
    for (const { type, kv, previous } of events) {
      const before = previous && toVersion(previous);
      const version = type === 'put' ? toVersion(kv) : before;
      if (version === undefined) throw new Error(`nothing was deleted at ${revision}`);
      truth.push({
        type: type === 'delete' ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED',
        revision,
        name: version.name,
        version,
        previous: before,
      });
    }
    if (revision >= end) break;
  }
  return truth;
}
